import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { systemErrorCode } from '../../common/errors.ts'
import type { JavaPluginLocation } from '../plugin-location.ts'
import { filesBelow } from './location-files.ts'

/**
 * SHA-256 of the paths and contents of a location's files, in hex. A file that cannot be read counts with its error, so
 * that the hash changes when it becomes readable.
 */
export async function hashLocation({ path, jars }: JavaPluginLocation): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(path))
  for (const file of jars.length > 0 ? jars : filesBelow(path, [])) {
    hash.update(JSON.stringify([file, await hashFile(file)]))
  }
  return hash.digest('hex')
}

async function hashFile(file: string): Promise<string> {
  const hash: Hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === undefined) throw error
    return code
  }
}
