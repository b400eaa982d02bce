import type { SinkRecord } from '../../../sdk/index.ts'
import { checkKey, type ObjectNames } from './object-names.ts'

export type FileNameSettings = {
  /** The folder of all topics; '' for none. */
  readonly folder: string
  readonly folderDelimiter: string
  readonly fileDelimiter: string
  /** Digits of offsets in names. */
  readonly offsetDigits: number
  /** Whether the folder names the schema of the value, before or after the path. */
  readonly schemaFolder: 'none' | 'prefix' | 'suffix'
  /** Tags of each object; undefined: objects are not tagged. */
  readonly tags: Readonly<Record<string, string>> | undefined
}

/** Names the objects of a topic partition, as the original does: `topics/orders/partition=0/orders+0+0000000042.json`. */
export class FileNames implements ObjectNames {
  readonly #settings: FileNameSettings

  constructor(settings: FileNameSettings) {
    this.#settings = settings
  }

  get hasTags(): boolean {
    return this.#settings.tags !== undefined
  }

  pathOf({ valueSchema }: SinkRecord, path: string): string {
    const { schemaFolder, folderDelimiter } = this.#settings
    if (schemaFolder === 'none') return path
    const schema = `schema_name=${valueSchema?.name ?? 'null'}`
    return schemaFolder === 'prefix' ? `${schema}${folderDelimiter}${path}` : `${path}${folderDelimiter}${schema}`
  }

  keyOf({ topic, origin }: SinkRecord, path: string, extension: string): string {
    const { folder, folderDelimiter, fileDelimiter, offsetDigits } = this.#settings
    const offset = String(origin.offset).padStart(offsetDigits, '0')
    const file = [topic, origin.partition, offset].join(fileDelimiter) + extension
    return checkKey([...(folder === '' ? [] : [folder]), topic, path, file].join(folderDelimiter))
  }

  prefixOf(topic: string): string {
    const { folder, folderDelimiter } = this.#settings
    return [...(folder === '' ? [] : [folder]), topic, ''].join(folderDelimiter)
  }

  isOfPartition(key: string, topic: string, partition: number): boolean {
    const { folderDelimiter, fileDelimiter } = this.#settings
    const file = key.slice(key.lastIndexOf(folderDelimiter) + folderDelimiter.length)
    return file.startsWith(`${topic}${fileDelimiter}${partition}${fileDelimiter}`)
  }

  tags(file: { readonly firstOffset: number; readonly lastOffset: number; readonly records: number }) {
    return {
      startOffset: String(file.firstOffset),
      endOffset: String(file.lastOffset),
      recordCount: String(file.records),
      ...this.#settings.tags,
    }
  }
}
