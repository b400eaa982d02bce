import { readFileSync } from 'node:fs'

export type GoldenRecord = {
  readonly topic: 'connect-configs' | 'connect-offsets' | 'connect-status'
  readonly partition: number
  readonly key: string
  readonly value: string | null
}

/** What a real Kafka Connect 4.3.1 worker wrote to its three topics, in order. */
export const GOLDEN: readonly GoldenRecord[] = readFileSync(
  new URL('../../golden/worker/topics.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as GoldenRecord)
