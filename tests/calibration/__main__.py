"""Print the table of rates: ``python -m tests.calibration [FOLDER]``."""

from tests.calibration.runs import main

if __name__ == "__main__":
    main()
