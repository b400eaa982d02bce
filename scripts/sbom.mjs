// Prints the bill of materials of an installed Weir in CycloneDX format: `npm run -s sbom`. With `-- --java`, that of the
// image with Java, which also contains the libraries of the Java host.
import { spawnSync } from 'node:child_process'
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
  console.log(JSON.stringify({ ...bill, components }, null, 2))
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
