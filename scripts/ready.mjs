// Installs the packages of package-lock.json unless they are installed already. Called by every `pre` script, so it must
// be fast when nothing is to be done, and run on the oldest Node that can start npm.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPORT_MS = 10_000
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const lockFile = join(root, 'package-lock.json')
const installedFile = join(root, 'node_modules', '.package-lock.json')
const nodeFile = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')

if (!isReady()) install()

function isReady() {
  if (!existsSync(installedFile) || !existsSync(nodeFile)) return false
  if (statSync(installedFile).mtimeMs >= statSync(lockFile).mtimeMs) return true
  // A newer lock file may have the same content, as after `git checkout`: then only the time stamp is updated.
  if (!holdsAll(packagesOf(installedFile), packagesOf(lockFile))) return false
  utimesSync(installedFile, new Date(), new Date())
  return true
}

/** Optional packages are left out: those of other platforms are never installed. */
function holdsAll(installed, locked) {
  return Object.entries(locked).every(
    ([path, wanted]) => path === '' || wanted.optional === true || installed[path]?.version === wanted.version,
  )
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

function install() {
  process.stderr.write('weir: installing dependencies with npm ci (once; again when package-lock.json changes)\n')
  const startMs = Date.now()
  const report = () => process.stderr.write(`weir: still installing, ${Math.round((Date.now() - startMs) / 1_000)} s\n`)
  // npm shows its progress on terminals only.
  const reporting = process.stderr.isTTY ? undefined : setInterval(report, REPORT_MS)
  // Writes nothing to standard output: `npm run -s weir -- … | jq` must work on the first run, too.
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  npm.on('error', (error) => fail(`npm could not be started (${error.message}): install Node.js 20 or newer with npm`))
  npm.on('exit', (status) => {
    clearInterval(reporting)
    if (status !== 0)
      fail(`npm ci failed with exit code ${status}: its own words are above; put that right and try again`)
    if (!existsSync(nodeFile)) {
      fail(
        'npm ci left no Node 24 in node_modules/.bin: the package "node" installs it by a script; allow install scripts (npm config get ignore-scripts)',
      )
    }
  })
}

function fail(sentence) {
  process.stderr.write(`weir: ${sentence}\n`)
  process.exit(1)
}
