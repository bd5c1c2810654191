"""What every room uses: errors, quantities, text, files and tables; nothing here knows a simulation."""
