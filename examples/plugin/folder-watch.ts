import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineSource, field, INT64, RetriableError, STRING, struct, TIMESTAMP, z } from 'weir/sdk'

/** One schema for all records, because converters cache schemas by identity. */
const FILE_SEEN = struct('FileSeen', { name: STRING, bytes: INT64, changed: TIMESTAMP })

/** The position in a folder: the time of the last change and, of several files with that time, the last name. */
type Place = { readonly changedMs: number; readonly name: string }

export const folderWatch = defineSource({
  class: 'FolderWatch',
  version: '1.0.0',
  summary: 'Writes a record for every new or changed file of a folder.',
  notes:
    'Each file causes at least one record after its last change; one that changes twice between two scans causes one.',
  config: z.object({
    folder: field.text({ doc: 'The folder to watch.', importance: 'HIGH', nonEmpty: true }),
    topic: field.text({ doc: 'Topic for the records.', importance: 'HIGH', nonEmpty: true }),
    'poll.interval.ms': field.int({ doc: 'Pause between two scans, in ms.', min: 1 }).default(1000),
  }),

  async *poll({ config, signal, resumeFrom }) {
    const sourcePartition = { folder: config.folder }
    const stored = resumeFrom(sourcePartition)
    let place: Place = { changedMs: Number(stored?.['changedMs'] ?? -1), name: String(stored?.['name'] ?? '') }
    while (!signal.aborted) {
      const files = await filesAfter(place, config.folder)
      yield files.map(({ bytes, ...at }) => ({
        topic: config.topic,
        key: at.name,
        keySchema: STRING,
        value: { name: at.name, bytes, changed: new Date(at.changedMs) },
        valueSchema: FILE_SEEN,
        sourcePartition,
        sourceOffset: at,
      }))
      place = files.at(-1) ?? place
      await sleep(config['poll.interval.ms'], undefined, { signal }).catch(() => {})
    }
  },
})

type FileAt = Place & { readonly bytes: number }

async function filesAfter(place: Place, folder: string): Promise<readonly FileAt[]> {
  const names = await readdir(folder).catch((error: Error) => {
    // The folder may be created later: the task retries.
    throw new RetriableError(`the folder '${folder}' cannot be read: ${error.message}`)
  })
  const files = await Promise.all(names.map((name) => fileAt(folder, name)))
  return files
    .filter((file) => file !== undefined)
    .filter((file) => compare(file, place) > 0)
    .sort(compare)
}

/** Undefined for folders, and for files that were removed in the meantime. */
async function fileAt(folder: string, name: string): Promise<FileAt | undefined> {
  const found = await stat(join(folder, name)).catch(() => undefined)
  return found?.isFile() ? { changedMs: Math.floor(found.mtimeMs), name, bytes: found.size } : undefined
}

function compare(a: Place, b: Place): number {
  return a.changedMs - b.changedMs || (a.name < b.name ? -1 : Number(a.name > b.name))
}
