import type { RawConfig } from '../../sdk/index.ts'
import { WorkerError } from '../model/worker-error.ts'

/** Longer names could not be part of an address, and their connectors never be read or deleted. */
const NAME_LENGTH_MAX = 2_048
/** A record of Kafka's default size has to hold it, and that of a task some more. */
const CONFIG_BYTES_MAX = 900_000

/**
 * Throws a `WorkerError` for what could be stored only in part, or not be found again. The original has no such bounds:
 * there it fails later, or for good.
 */
export function checkStorageLimits(name: string, config: RawConfig): void {
  const broken = [name, ...Object.entries(config).flat()].find((text) => !text.isWellFormed())
  if (broken !== undefined) {
    throw refused(`half of a surrogate pair stands in '${broken.toWellFormed().slice(0, 100)}': it is no Unicode text`)
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
