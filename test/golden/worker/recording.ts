import { readFileSync } from 'node:fs'

/** A recorded request with the response of Kafka Connect. */
export type Exchange = {
  /** From 1, in order. */
  readonly number: number
  readonly section: string
  readonly label: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly request?: string
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  readonly answer: string
}

export type TopicRecord = {
  readonly topic: 'connect-configs' | 'connect-offsets' | 'connect-status'
  readonly partition: number
  readonly key: string
  readonly value: string | null
}

/** The records that were written since the previous step. */
export type TopicStep = {
  readonly step: string
  /** Number of the last request before this step; 0: none. */
  readonly after: number
  readonly records: readonly TopicRecord[]
}

export function exchanges(): readonly Exchange[] {
  return readLines<Exchange>('rest.jsonl')
}

export function topicSteps(): readonly TopicStep[] {
  return readLines<TopicStep>('topics.jsonl')
}

function readLines<Line>(file: string): readonly Line[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}
