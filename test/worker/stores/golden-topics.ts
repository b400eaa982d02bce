import { type TopicRecord, topicSteps } from '../../golden/worker/recording.ts'

/** The records that a Kafka Connect 4.3.1 worker wrote to its three topics, in order. */
export const GOLDEN: readonly TopicRecord[] = topicSteps().flatMap(({ records }) => records)
