import type { KeyRecord } from '../dek/key.ts'
import type { KeysTopic } from '../dek/keys-topic.ts'
import type { SchemasTopic, SchemasTopicWriter } from '../store/schemas-topic.ts'

/** Write access to the topics of the registry. Only one instance, the leader, has it at a time. */
export type LeaderWriter = Pick<SchemasTopicWriter, 'append' | 'close'> & {
  /** Writes records to the topic of the DEK registry, as `append` does. */
  appendKeys(records: readonly KeyRecord[]): Promise<void>
}

/**
 * Fences the writers of previous leaders, and resolves when the states contain everything that they wrote. Without
 * `keyLog`, the DEK registry is not served.
 */
export async function openLeaderWriter(log: SchemasTopic, keyLog: KeysTopic | undefined): Promise<LeaderWriter> {
  const writer = await log.openWriter()
  try {
    const keyWriter = await keyLog?.openWriter(writer.identity)
    return {
      append: writer.append,
      appendKeys: async (records) => keyWriter?.append(records),
      close: async () => {
        await Promise.all([writer.close(), keyWriter?.close()])
      },
    }
  } catch (error) {
    await writer.close()
    throw error
  }
}
