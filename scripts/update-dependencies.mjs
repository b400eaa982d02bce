// node scripts/update-dependencies.mjs
// Changes package.json and package-lock.json to the latest versions of the packages that package.json names, and prints
// each change. Installs nothing. Packages in HELD are only printed: somebody must decide about them.
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Packages whose latest version is not the one to use, and what decides about their version. */
const HELD = {
  node: 'the version in test/env/supported-versions.ts',
  '@types/node': 'the version of node',
}
const root = join(import.meta.dirname, '..')

const outdated = listOutdated()
for (const [name, { wanted, latest }] of outdated)
  console.log(`${name} ${wanted} -> ${latest}${name in HELD ? ` (not changed: follows ${HELD[name]})` : ''}`)
const updates = outdated.filter(([name]) => !(name in HELD)).map(([name, { latest }]) => `${name}@${latest}`)
if (updates.length === 0) console.log('no package is changed')
else {
  const options = ['--package-lock-only', '--ignore-scripts', '--save-exact', '--omit-lockfile-registry-resolved']
  execFileSync('npm', ['install', ...options, ...updates], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  execFileSync(process.execPath, [join(root, 'scripts/complete-lock.mjs')], { stdio: 'inherit' })
}

/** The names of the packages that are not at their latest version, with the versions. npm exits with 1 if there are any. */
function listOutdated() {
  const { status, stdout, error } = spawnSync('npm', ['outdated', '--json'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (error !== undefined) throw error
  const report = JSON.parse(stdout.trim() || '{}')
  if (status > 1 || 'error' in report) throw new Error(`npm outdated failed: ${report.error?.summary ?? stdout}`)
  return Object.entries(report).filter(([, { wanted, latest }]) => wanted !== latest)
}
