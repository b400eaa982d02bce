import type { MessagePort } from 'node:worker_threads'

/** How to reach a broker: through a configuration, or through another thread that has it open. */
export type BrokerAddress =
  | { readonly kind: 'kafka'; readonly config: Readonly<Record<string, string>> }
  | { readonly kind: 'embedded'; readonly directory: string; readonly fsync?: DataFsync }
  | { readonly kind: 'thread'; readonly port: MessagePort }

/**
 * When the embedded broker calls fsync, so that writes survive a power failure: before each commit is acknowledged, or at
 * each checkpoint of the write-ahead log.
 */
export type DataFsync = 'commit' | 'checkpoint'
