// Run after `npm install <package>`: adds to package-lock.json the optional packages of other platforms that npm
// omitted. Without them `npm ci` rejects the lock file on every platform.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const lockFile = join(dirname(fileURLToPath(import.meta.url)), '..', 'package-lock.json')
const lock = JSON.parse(readFileSync(lockFile, 'utf8'))
const { packages } = lock
const added = []

for (const { optionalDependencies = {}, dev } of Object.values(packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = `node_modules/${name}`
    // A version range cannot be resolved here; platform packages have exact versions.
    if (packages[path] !== undefined || !/^\d/.test(version)) continue
    packages[path] = { version, ...platformOf(name), ...(dev && { dev }), optional: true }
    added.push(name)
  }
}

if (added.length > 0) {
  const entries = Object.entries(packages).sort(([left], [right]) => left.localeCompare(right, 'en'))
  writeFileSync(lockFile, `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, null, 2)}\n`)
  process.stderr.write(`package-lock.json: added ${added.join(', ')}\n`)
}

/** `@scope/name-linux-x64-musl` → the fields by which npm recognizes packages of other platforms. */
function platformOf(name) {
  const words = name.split(/[/-]/)
  const of = (known) => known.filter((word) => words.includes(word))
  const fields = {
    cpu: of(['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']),
    os: of(['aix', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'openharmony', 'sunos', 'win32']),
    libc: words.includes('musl') ? ['musl'] : words.includes('gnu') ? ['glibc'] : [],
  }
  return Object.fromEntries(Object.entries(fields).filter(([, values]) => values.length > 0))
}
