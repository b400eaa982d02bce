import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

// Reads and parses the YAML files of a directory and the schemas in them: the least that a check of them has to do.
const [directory = '.'] = process.argv.slice(2)
for (const file of readdirSync(directory)) {
  const { spec } = parse(readFileSync(join(directory, file), 'utf8')) as { readonly spec: { readonly schema: string } }
  JSON.parse(spec.schema)
}
