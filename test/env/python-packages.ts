import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import type { Part } from './part.ts'
import { run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'

/** `packages`: folder with the packages, which must be the first entry of Python's module path. */
export type PythonPackagesAddress = { readonly packages: string }

export type PythonPackagesOptions = {
  /** Version of the package that the others are dependencies of. */
  readonly version: string
  /** Environment variable with a folder that has the packages already. */
  readonly variable: string
  /** Name of the folder in the cache. */
  readonly cache: string
  /** Path of a file with pinned versions of all packages. */
  readonly requirements: string
  /** A package without a wheel on PyPI. */
  readonly sourceOnly?: string
}

const PYTHON_MIN = 10

/** Packages from PyPI in a separate folder. */
export function pythonPackagesPart(name: string, options: PythonPackagesOptions): Part<PythonPackagesAddress> {
  const { version, variable } = options
  return {
    name,
    version,
    async find() {
      const named = process.env[variable]
      if (named !== undefined) return { how: 'environment', detail: `${variable}=${named}`, cached: true }
      const { version: python, missing } = await findPython()
      if (missing !== undefined) return { how: 'missing', detail: missing }
      const cached = existsSync(packagesFor(python, options))
      return { how: 'toolchain', detail: `Python ${python}, from PyPI`, cached }
    },
    async start() {
      const packages = process.env[variable] ?? (await install((await pythonVersion()) ?? '', options))
      return { address: { packages }, stop: async () => {} }
    },
  }
}

/** The Python of this machine. */
export const pythonPart: Part<{ readonly file: string }> = {
  name: 'python',
  version: `3.${PYTHON_MIN}`,
  async find() {
    const { version, missing } = await findPython()
    if (missing !== undefined) return { how: 'missing', detail: missing }
    return { how: 'toolchain', detail: `Python ${version}`, cached: true }
  },
  start: async () => ({ address: { file: 'python3' }, stop: async () => {} }),
}

async function findPython(): Promise<{ readonly version: string; readonly missing?: string }> {
  const python = await pythonVersion()
  if (python === undefined) return { version: '', missing: 'there is no python3 with pip on PATH' }
  const [major, minor = 0] = python.split('.').map(Number)
  if (major === 3 && minor >= PYTHON_MIN) return { version: python }
  return { version: python, missing: `python3 is ${python}, the tests need 3.${PYTHON_MIN}` }
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

async function install(python: string, options: PythonPackagesOptions): Promise<string> {
  const packages = packagesFor(python, options)
  if (existsSync(packages)) return packages
  const { requirements, sourceOnly } = options
  const directory = mkdtempSync(`${packages}-`)
  try {
    const wheels = ['--only-binary', ':all:', ...(sourceOnly === undefined ? [] : ['--no-binary', sourceOnly])]
    const common = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', ...wheels]
    const args = [...common, '--requirement', requirements, '--target', directory]
    const { code, stdout, stderr } = await run({ file: 'python3', args, directory })
    if (code !== 0) throw new Error(`pip could not bring the packages of ${requirements}:\n${stdout}${stderr}`)
    // Renamed only when it is complete; another run may have been faster.
    if (!existsSync(packages)) renameSync(directory, packages)
    return packages
  } finally {
    removeDirectory(directory)
  }
}

/** One folder per Python version, because of compiled modules, and per content of the requirements file. */
function packagesFor(python: string, { cache, version, requirements }: PythonPackagesOptions): string {
  const required = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 8)
  return join(cacheDirectory(cache), `${version}-${required}-python-${python}`)
}
