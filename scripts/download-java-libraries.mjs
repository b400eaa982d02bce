// node scripts/download-java-libraries.mjs DIRECTORY
// Downloads the jars that the Java host needs, those in java/host/libraries.json, into DIRECTORY, from Maven Central or
// from the repository in the environment variable MAVEN_REPOSITORY. Each must have the SHA-512 of that file.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileName, parseCoordinates } from '../src/java/maven/coordinates.ts'
import { MAVEN_CENTRAL, MavenRepository } from '../src/java/maven/maven-repository.ts'

const LIBRARIES = join(import.meta.dirname, '../java/host/libraries.json')

/** Returns the paths of the jars. */
export async function downloadJavaLibraries(directory) {
  const repository = new MavenRepository(process.env.MAVEN_REPOSITORY || MAVEN_CENTRAL)
  mkdirSync(directory, { recursive: true })
  const libraries = Object.entries(JSON.parse(readFileSync(LIBRARIES, 'utf8')))
  return Promise.all(
    libraries.map(async ([artifact, expected]) => {
      const coordinates = parseCoordinates(artifact)
      const file = join(directory, fileName(coordinates))
      const { sha512 } = await repository.download(coordinates, file)
      if (sha512 === expected) return file
      rmSync(file)
      throw new Error(`${artifact} of ${repository.url} has the SHA-512 ${sha512}, expected ${expected}`)
    }),
  )
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2)
  if (directory === undefined) {
    console.error('usage: node scripts/download-java-libraries.mjs DIRECTORY')
    process.exit(2)
  }
  await downloadJavaLibraries(directory)
}
