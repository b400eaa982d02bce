import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

// Writes the required tests of a checkout of the JSON-Schema-Test-Suite, whose license permits it, into one file:
//
//     node test/formats/json/record-test-suite.mjs CHECKOUT
const DRAFTS = ['draft4', 'draft6', 'draft7', 'draft2019-09', 'draft2020-12']
const [checkout] = process.argv.slice(2)
const read = (file) => JSON.parse(readFileSync(join(checkout, file), 'utf8'))
const filesIn = (pattern) => globSync(pattern, { cwd: checkout }).sort()
const suite = {
  source: 'https://github.com/json-schema-org/JSON-Schema-Test-Suite',
  commit: execFileSync('git', ['rev-parse', 'HEAD'], { cwd: checkout, encoding: 'utf8' }).trim(),
  license: readFileSync(join(checkout, 'LICENSE'), 'utf8'),
  groups: DRAFTS.flatMap((draft) =>
    filesIn(`tests/${draft}/*.json`).flatMap((file) => read(file).map((group) => ({ draft, ...group }))),
  ),
  remotes: Object.fromEntries(
    filesIn('remotes/**/*.json')
      .filter((file) => !/^remotes\/(?:draft3|v1)\//.test(file))
      .map((file) => [file.replace('remotes/', 'http://localhost:1234/'), read(file)]),
  ),
}
writeFileSync(join(import.meta.dirname, 'test-suite.json.gz'), gzipSync(JSON.stringify(suite), { level: 9 }))
