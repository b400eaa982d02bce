import { randomBytes } from 'node:crypto'
import type { Clock } from '../../common/clock.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { ConfigStore } from '../stores/config-store.ts'

export type SessionKeyRotationOptions = {
  readonly logger: Logger
  readonly clock: Clock
  readonly configs: ConfigStore
  readonly isLeader: () => boolean
  readonly sessionKey: {
    /** Age at which the key is replaced, in ms; 0 means never. */
    readonly ttlMs: number
    readonly algorithm: string
    readonly bytes: number
  }
}

const KEY_CHECK_MS = 10_000

/** The key in the config topic with which the workers of a group sign their requests to each other. */
export class SessionKeyRotation {
  readonly #options: SessionKeyRotationOptions

  constructor(options: SessionKeyRotationOptions) {
    this.#options = options
  }

  /** Rotates the session key when it expires, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, isLeader, logger } = this.#options
    const seen = new ErrorDeduplicator()
    while (!signal.aborted) {
      await clock.sleep(KEY_CHECK_MS, signal).catch(() => undefined)
      if (signal.aborted || !isLeader()) continue
      await this.rotate().catch((error: unknown) => {
        if (!seen.isRepeated(error)) logger.error({ err: error }, 'the session key could not be rotated; retrying')
      })
    }
  }

  /** Replaces the session key if it is expired or does not have the configured algorithm and size. */
  async rotate(): Promise<void> {
    const { configs, clock, sessionKey } = this.#options
    const { ttlMs, algorithm, bytes } = sessionKey
    const known = configs.state.session
    const isFresh = known && known.algorithm === algorithm && Buffer.from(known.key, 'base64').length === bytes
    if (isFresh && (ttlMs === 0 || clock.nowMs() - known.createdMs < ttlMs)) return
    const key = randomBytes(bytes).toString('base64')
    await configs.write([{ kind: 'session', session: { key, algorithm, createdMs: clock.nowMs() } }])
  }
}
