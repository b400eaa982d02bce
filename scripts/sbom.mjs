// Prints the bill of materials of what Weir carries when it is installed, as CycloneDX: `npm run -s sbom`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const { devDependencies: _, scripts: __, ...manifest } = readJson('package.json')
const lock = readJson('package-lock.json')
delete lock.packages[''].devDependencies

// `npm sbom --omit dev` leaves out what a tool of ours needs as well; where there are no tools, there is nothing to omit.
const packages = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true)
const directory = mkdtempSync(join(tmpdir(), 'weir-sbom-'))
try {
  // npm calls it by its folder.
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
