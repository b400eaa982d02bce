// node scripts/download-java-libraries.mjs DIRECTORY
// Downloads the jars that the Java host needs, those in java/host/libraries.json, into DIRECTORY, and those of Apache Maven
// Resolver in java/host/resolver.json into DIRECTORY/resolver, from Maven Central or from the repository in the environment
// variable MAVEN_REPOSITORY. Each must have the SHA-512 of these files.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAVEN_CENTRAL, parseCoordinates } from '../src/java/maven/coordinates.ts'

const ATTEMPTS = 4
const PAUSE_MS = 2_000

/** Returns the paths of the jars: those of the host, and those of the resolver. */
export async function downloadJavaLibraries(directory) {
  return [
    await downloadAll('libraries.json', directory),
    await downloadAll('resolver.json', join(directory, 'resolver')),
  ]
}

async function downloadAll(list, directory) {
  mkdirSync(directory, { recursive: true })
  const libraries = Object.entries(JSON.parse(readFileSync(join(import.meta.dirname, '../java/host', list), 'utf8')))
  return Promise.all(libraries.map(([name, sha512]) => download(name, sha512, directory)))
}

async function download(name, expected, directory) {
  const { group, artifact, version } = parseCoordinates(name)
  const file = `${artifact}-${version}.jar`
  const repository = new URL(process.env.MAVEN_REPOSITORY || MAVEN_CENTRAL)
  const { username, password } = repository
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const headers = username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
  const origin = `${repository.origin}${repository.pathname}`.replace(/\/+$/, '')
  const bytes = await fetchBytes(`${origin}/${group.replaceAll('.', '/')}/${artifact}/${version}/${file}`, headers)
  const actual = createHash('sha512').update(bytes).digest('hex')
  if (actual !== expected) throw new Error(`${name} of ${origin} has the SHA-512 ${actual}, expected ${expected}`)
  writeFileSync(join(directory, file), bytes)
  return join(directory, file)
}

async function fetchBytes(url, headers) {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(120_000) })
      if (!response.ok) throw new Error(`HTTP status ${response.status}`)
      return Buffer.from(await response.arrayBuffer())
    } catch (error) {
      if (attempt === ATTEMPTS) throw new Error(`${url} cannot be read: ${error.cause?.message ?? error.message}`)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2)
  if (directory === undefined) {
    console.error('usage: node scripts/download-java-libraries.mjs DIRECTORY')
    process.exit(2)
  }
  await downloadJavaLibraries(directory)
}
