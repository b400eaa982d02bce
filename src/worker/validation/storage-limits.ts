import type { RawConfig } from '../../sdk/index.ts'
import { WorkerError } from '../model/worker-error.ts'

/** Maximum URL-encoded length of a connector name: a longer one could not be used in the path of a request. */
const NAME_LENGTH_MAX = 2_048
/** Fits into a record of Kafka's default maximum size, with a reserve for the task configurations. */
const CONFIG_BYTES_MAX = 900_000

/**
 * Throws a `WorkerError` (`invalid_config`) for a configuration that cannot be stored completely or accessed later.
 * Kafka Connect has no such limits; it fails later.
 */
export function checkStorageLimits(name: string, config: RawConfig): void {
  const broken = [name, ...Object.entries(config).flat()].find((text) => !text.isWellFormed())
  if (broken !== undefined) {
    throw refused(
      `'${broken.toWellFormed().slice(0, 100)}' contains half of a surrogate pair: it is not valid Unicode text`,
    )
  }
  const nameLength = encodeURIComponent(name).length
  if (nameLength > NAME_LENGTH_MAX) {
    throw refused(`the name has ${nameLength} characters in an address: at most ${NAME_LENGTH_MAX} can be used`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(config))
  if (bytes > CONFIG_BYTES_MAX) {
    throw refused(`the configuration has ${bytes} bytes: at most ${CONFIG_BYTES_MAX} can be stored`)
  }
}

function refused(message: string): WorkerError {
  return new WorkerError('invalid_config', message)
}
