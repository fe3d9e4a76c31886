"""What is made of records: tables, figures and pages. Nothing here measures."""
