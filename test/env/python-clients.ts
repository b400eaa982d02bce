import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import type { Part } from './part.ts'
import { run } from './process.ts'

/** Where `python3` finds the clients: the first entry of its path has to be `packages`. */
export type PythonClientsAddress = { readonly packages: string }

const VERSION = '2.16.0'
const VARIABLE = 'PYTHON_CLIENTS'
/** The client, all that its three serializers and its encryption of fields need, and protoc; each in the version that was tried. */
const REQUIREMENTS = join(import.meta.dirname, 'python-clients.txt')
/** What PyPI has no wheel of: one file of Python. */
const SOURCE_ONLY = 'hkdf'
const PYTHON_MIN = 10

/** Confluent's client for Python with its serializers, and protoc, in a folder of its own. */
export function pythonClientsPart(name: string): Part<PythonClientsAddress> {
  return {
    name,
    version: VERSION,
    async find() {
      const named = process.env[VARIABLE]
      if (named !== undefined) return { how: 'environment', detail: `${VARIABLE}=${named}`, cached: true }
      const python = await pythonVersion()
      if (python === undefined) return { how: 'missing', detail: 'there is no python3 with pip on PATH' }
      const [major, minor] = python.split('.').map(Number)
      if (major !== 3 || minor === undefined || minor < PYTHON_MIN) {
        return { how: 'missing', detail: `python3 is ${python}, the clients need 3.${PYTHON_MIN}` }
      }
      return { how: 'toolchain', detail: `Python ${python}, from PyPI`, cached: existsSync(packagesFor(python)) }
    },
    async start() {
      const named = process.env[VARIABLE]
      const packages = named ?? (await install((await pythonVersion()) ?? ''))
      return { address: { packages }, stop: async () => {} }
    },
  }
}

async function pythonVersion(): Promise<string | undefined> {
  const program = 'import pip, platform; print(platform.python_version())'
  try {
    const { code, stdout } = await run({ file: 'python3', args: ['-c', program], directory: '.' })
    return code === 0 ? stdout.trim() : undefined
  } catch {
    return undefined
  }
}

/** Takes about 30 s and 90 MB the first time. */
async function install(python: string): Promise<string> {
  const packages = packagesFor(python)
  if (existsSync(packages)) return packages
  const directory = mkdtempSync(`${packages}-`)
  try {
    const options = [
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--no-binary',
      SOURCE_ONLY,
    ]
    const args = ['-m', 'pip', 'install', ...options, '--requirement', REQUIREMENTS, '--target', directory]
    const { code, stdout, stderr } = await run({ file: 'python3', args, directory })
    if (code !== 0) throw new Error(`pip could not bring the clients for Python:\n${stdout}${stderr}`)
    // Under its name only when it is whole; another run may have been faster.
    if (!existsSync(packages)) renameSync(directory, packages)
    return packages
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What is compiled fits one Python; other requirements are another folder. */
function packagesFor(python: string): string {
  const required = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 8)
  return join(cacheDirectory('python-clients'), `${VERSION}-${required}-python-${python}`)
}
