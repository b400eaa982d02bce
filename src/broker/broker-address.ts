import type { MessagePort } from 'node:worker_threads'
import type { SocketAddress } from './embedded/socket-link.ts'

/** How to reach a broker: through a configuration, or through another thread or another process of this machine that has it open. */
export type BrokerAddress =
  | { readonly kind: 'kafka'; readonly config: Readonly<Record<string, string>> }
  | { readonly kind: 'embedded'; readonly directory: string; readonly fsync?: DataFsync }
  | { readonly kind: 'thread'; readonly port: MessagePort }
  | ({ readonly kind: 'process' } & SocketAddress)

/**
 * When the embedded broker calls fsync, so that writes survive a power failure: before each commit is acknowledged, or at
 * each checkpoint of the write-ahead log.
 */
export type DataFsync = 'commit' | 'checkpoint'
