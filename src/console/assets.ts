import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { CODE_DIRECTORY } from '../common/program-files.ts'

/** A file of the page. */
export type Asset = { readonly type: string; readonly body: Buffer; readonly zipped: Buffer; readonly etag: string }

/** The files of the page, by their path below `/ui/assets/`. */
export type PageAssets = {
  /** Path of the module that starts the page. */
  readonly main: string
  /** URLs of the libraries by the names that modules import; empty where they are part of `main`. */
  readonly libraries: Readonly<Record<string, string>>
  /** Undefined if the page has no such file. */
  read(path: string): Promise<Asset | undefined>
}

/** What the page imports besides its own modules. */
const LIBRARIES = ['preact', 'preact/hooks', 'htm', 'htm/preact', '@preact/signals', '@preact/signals-core']
/** What the page imports from outside of its directory. */
const SHARED_MODULES = [
  'common/counted.ts',
  'common/line-diff.ts',
  'common/resource-api.ts',
  'common/state-glossary.ts',
  'common/topic-use.ts',
]
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const compress = promisify(gzip)

/**
 * Finds the files of the page. The published package has one module for all; in a checkout, each module is served as it is
 * without its types, so that no build is needed.
 */
export function openPageAssets(): PageAssets {
  const directory = join(CODE_DIRECTORY, 'console', 'page')
  const isBuilt = existsSync(join(directory, 'main.js'))
  const libraries = isBuilt ? {} : libraryFiles()
  const files = new Map<string, string>([
    ...globSync('*.{js,css,svg}', { cwd: directory }).map((file) => [file, join(directory, file)] as const),
    ...(isBuilt ? [] : moduleFiles()),
    ...Object.entries(libraries).map(([name, file]) => [libraryPath(name), file] as const),
  ])
  const read = new Map<string, Promise<Asset>>()
  return {
    main: isBuilt ? 'main.js' : 'console/page/main.ts',
    libraries: Object.fromEntries(Object.keys(libraries).map((name) => [name, libraryPath(name)])),
    async read(path) {
      const file = files.get(path)
      if (file === undefined) return undefined
      const asset = read.get(path) ?? readAsset(file)
      // The sources of a checkout may change while it runs.
      if (isBuilt) read.set(path, asset)
      return asset
    },
  }
}

/** The modules of a checkout have their paths below `src`, so that they can import what the page shares with the programs. */
function moduleFiles(): readonly (readonly [path: string, file: string])[] {
  return [...globSync('console/page/**/*.ts', { cwd: CODE_DIRECTORY }), ...SHARED_MODULES].map((file) => [
    file.split(sep).join('/'),
    join(CODE_DIRECTORY, file),
  ])
}

const libraryPath = (name: string) => `libraries/${name.replaceAll('/', '-')}.js`

function libraryFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(LIBRARIES.map((name) => [name, fileURLToPath(import.meta.resolve(name))]))
}

async function readAsset(file: string): Promise<Asset> {
  const source = readFileSync(file)
  const body = extname(file) === '.ts' ? Buffer.from(withoutTypes(source.toString())) : source
  return {
    type: TYPES[extname(file)] ?? 'text/javascript; charset=utf-8',
    body,
    zipped: await compress(body),
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`,
  }
}

/** Node reports once that this function is experimental, which is of no use for the person who opens the page. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
