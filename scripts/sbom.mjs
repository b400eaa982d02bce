// Prints the bill of materials of an installed Weir in CycloneDX format: `npm run -s sbom`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function readJson(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}
