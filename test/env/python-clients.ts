import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import type { Part } from './part.ts'
import { run } from './process.ts'

/** `packages`: folder with the clients, which must be the first entry of Python's module path. */
export type PythonClientsAddress = { readonly packages: string }

const VERSION = '2.16.0'
const VARIABLE = 'PYTHON_CLIENTS'
/** Pinned versions of the client, the dependencies of its three serializers and of field encryption, and protoc. */
const REQUIREMENTS = join(import.meta.dirname, 'python-clients.txt')
/** A package without a wheel on PyPI. It is a single Python file. */
const SOURCE_ONLY = 'hkdf'
const PYTHON_MIN = 10

/** Confluent's client for Python with its serializers, and protoc, in a separate folder. */
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

/** Takes about 30 s and 90 MB of disk space the first time. */
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
    // Renamed only when it is complete; another run may have been faster.
    if (!existsSync(packages)) renameSync(directory, packages)
    return packages
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** One folder per Python version, because of compiled modules, and per content of the requirements file. */
function packagesFor(python: string): string {
  const required = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 8)
  return join(cacheDirectory('python-clients'), `${VERSION}-${required}-python-${python}`)
}
