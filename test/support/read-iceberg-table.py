# Prints the rows of an Iceberg table as JSON: read-iceberg-table.py METADATA_FILE
import json
import sys

from pyiceberg.table import StaticTable

print(json.dumps(StaticTable.from_metadata(sys.argv[1]).scan().to_arrow().to_pylist(), default=str))
