// Prints the bill of materials of an installed Weir in CycloneDX format: `npm run -s sbom`. With `-- --java`, that of the
// image with Java, which also contains the libraries of the Java host. With SOURCE_DATE_EPOCH, in seconds since 1970, that is
// the time of the bill, and equal bills have equal serial numbers.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The licenses of the libraries of the Java host, by their groups. */
const JAVA_LICENSES = {
  'at.yawk.lz4': 'Apache-2.0',
  'com.fasterxml.jackson': 'Apache-2.0',
  'com.github.luben': 'BSD-2-Clause',
  'jakarta.ws.rs': 'EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0',
  'javax.inject': 'Apache-2.0',
  'org.apache.kafka': 'Apache-2.0',
  'org.apache.maven': 'Apache-2.0',
  'org.codehaus.plexus': 'Apache-2.0',
  'org.slf4j': 'MIT',
  'org.xerial.snappy': 'Apache-2.0',
}

const root = join(import.meta.dirname, '..')
const { devDependencies: _, scripts: __, ...manifest } = readJson('package.json')
const lock = readJson('package-lock.json')
delete lock.packages[''].devDependencies

// `npm sbom --omit dev` would also omit packages that both Weir and a development tool need, so the list is made from an
// installation without development tools.
const packages = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true)
const directory = mkdtempSync(join(tmpdir(), 'weir-sbom-'))
try {
  // npm names the root package after its folder.
  const folder = join(directory, manifest.name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }))
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application']
  const { status, stdout } = spawnSync('npm', args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  })
  process.exitCode = status ?? 1
  if (status === 0) print(JSON.parse(stdout.toString()))
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function print(bill) {
  const components = process.argv.includes('--java') ? [...bill.components, ...javaLibraries()] : bill.components
  const epoch = process.env.SOURCE_DATE_EPOCH
  const printed = epoch === undefined ? { ...bill, components } : reproducible({ ...bill, components }, Number(epoch))
  console.log(JSON.stringify(printed, null, 2))
}

/** npm writes the current time and a random serial number. */
function reproducible(bill, epoch) {
  const metadata = { ...bill.metadata, timestamp: new Date(epoch * 1_000).toISOString() }
  const hash = createHash('sha256').update(JSON.stringify({ ...bill, metadata, serialNumber: '' }))
  // Version 8 of RFC 9562, whose bits may be chosen freely.
  const digits = hash.digest('hex')
  const [a, b, c, d, e] = [
    [0, 8],
    [8, 12],
    [13, 16],
    [17, 20],
    [20, 32],
  ].map(([from, to]) => digits.slice(from, to))
  return { ...bill, metadata, serialNumber: `urn:uuid:${a}-${b}-8${c}-a${d}-${e}` }
}

function javaLibraries() {
  const libraries = ['libraries', 'resolver'].flatMap((list) => Object.entries(readJson(`java/host/${list}.json`)))
  return libraries.map(([coordinates, sha512]) => {
    const [group, name, version] = coordinates.split(':')
    const purl = `pkg:maven/${group}/${name}@${version}`
    return {
      'bom-ref': purl,
      type: 'library',
      group,
      name,
      version,
      purl,
      hashes: [{ alg: 'SHA-512', content: sha512 }],
      licenses: [licenseOf(group)],
    }
  })
}

function licenseOf(group) {
  const found = Object.entries(JAVA_LICENSES).find(([prefix]) => `${group}.`.startsWith(`${prefix}.`))
  if (found === undefined) throw new Error(`the license of ${group} is unknown: add it to JAVA_LICENSES`)
  return found[1].includes(' ') ? { expression: found[1] } : { license: { id: found[1] } }
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}
