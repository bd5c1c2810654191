// Workers that run a scenario on all cores. Ending a worker ends what it runs.

class Engine {
  constructor(source, module, files) {
    Object.assign(this, { source, module, files });
    this.waiting = new Map();
    this.count = 0;
  }

  start() {
    const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.opened = null;
    this.worker.onmessage = ({ data }) => {
      const asked = this.waiting.get(data.id);
      if ("reached" in data) { asked?.reached(data.reached); return; }
      this.waiting.delete(data.id);
      asked?.done(data.answer);
      // What a module holds that has trapped is not to be trusted any more.
      if (data.answer?.failed) this.end(data.answer.error);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(`the worker failed: ${event.message ?? "no message"}`);
    };
    return this.ask({ loads: this.module, files: this.files });
  }

  /** The answer to a message; `reached` is called with the simulated time while a run goes on. */
  ask(message, reached = () => {}) {
    if (!this.worker) this.start();
    const id = this.count++;
    return new Promise((done) => {
      this.waiting.set(id, { done, reached });
      this.worker.postMessage({ ...message, id });
    });
  }

  /** Opens a scenario, and describes it. */
  async open(scenario) {
    const found = await this.ask({ call: { do: "open", ...scenario } });
    this.opened = found.error ? null : scenario.key;
    return found;
  }

  /** The answer to a call about a scenario, which is opened first. */
  async about(scenario, call, reached) {
    if (this.opened !== scenario.key) {
      const found = await this.open(scenario);
      if (found.error) return found;
    }
    return this.ask({ call }, reached);
  }

  /** Ends the worker; what it was asked has no other answer than this. */
  end(text) {
    this.worker?.terminate();
    this.worker = null;
    this.opened = null;
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { done } of all) done({ error: text, faults: [], stopped: true });
  }
}

class Pool {
  constructor(source, module, files) {
    const most = Math.min(8, navigator.hardwareConcurrency || 2);
    this.engines = Array.from({ length: most }, () => new Engine(source, module, files));
    this.round = 0;
  }

  /**
   * Runs calls about a scenario on all workers; `take` gets each answer with its place, and `reached` the simulated time
   * of each that goes on. False if stopped.
   */
  async all(scenario, calls, take, reached = () => {}) {
    const round = ++this.round;
    let next = 0;
    const serve = async (engine) => {
      while (next < calls.length && round === this.round) {
        const place = next++, answer = await engine.about(scenario, calls[place], (seconds) => reached(seconds, place));
        if (round !== this.round || answer.stopped) return;
        take(answer, place);
      }
    };
    await Promise.all(this.engines.slice(0, calls.length).map(serve));
    return round === this.round;
  }

  stop() {
    this.round++;
    for (const engine of this.engines) if (engine.waiting.size) engine.end("stopped");
  }
}
