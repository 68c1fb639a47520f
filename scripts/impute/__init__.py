"""The rivals, tables and tasks of scripts/bench-impute."""
