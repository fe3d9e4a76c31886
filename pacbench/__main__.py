from pacbench.cli import main

main()
