import { formatRight, missingRight } from '../../broker/broker-error.ts'

/** The error messages of a kind of write, as in Confluent's registry. */
export type WriteErrorMessages = {
  readonly timedOut: string
  readonly notStored: string
  readonly notForwarded: string
  readonly leaderless: string
}

/** Names the right that the registry lacks, if that is the reason of the error. */
export function withMissingRight(messages: WriteErrorMessages, error: unknown): WriteErrorMessages {
  const reason = missingRightText(error)
  if (reason === undefined) return messages
  const explain = (message: string) => `${message.replace(/\.$/, '')}: ${reason}`
  return { ...messages, notStored: explain(messages.notStored), leaderless: explain(messages.leaderless) }
}

export function missingRightText(error: unknown): string | undefined {
  const right = missingRight(error)
  return right && `the registry needs ${formatRight(right)}`
}

export const REGISTER_MESSAGES: WriteErrorMessages = {
  timedOut: 'Register operation timed out',
  notStored: 'Register schema operation failed while writing to the Kafka store',
  notForwarded: 'Error while forwarding register schema request to the leader',
  leaderless: 'Leader not known.',
}
export const DELETE_VERSION_MESSAGES: WriteErrorMessages = {
  timedOut: 'Delete Schema Version operation timed out',
  notStored: 'Delete Schema Version operation failed while writing to the Kafka store',
  notForwarded: 'Error while forwarding delete schema version request to the leader',
  leaderless: 'Leader not known.',
}
export const DELETE_SUBJECT_MESSAGES: WriteErrorMessages = {
  timedOut: 'Delete subject operation timed out',
  notStored: 'Delete subject operation failed while writing to the Kafka store',
  notForwarded: 'Error while forwarding delete subject request to the leader',
  leaderless: 'Leader not known.',
}
export const UPDATE_CONFIG_MESSAGES: WriteErrorMessages = {
  timedOut: 'Update compatibility operation timed out',
  notStored: 'Failed to update compatibility level',
  notForwarded: 'Error while forwarding update config request to the leader',
  leaderless: 'Failed to update compatibility level',
}
export const DELETE_CONFIG_MESSAGES: WriteErrorMessages = {
  timedOut: 'Delete compatibility operation timed out',
  notStored: 'Failed to delete compatibility level',
  notForwarded: 'Error while forwarding delete config request to the leader',
  leaderless: 'Failed to delete compatibility level',
}
export const UPDATE_MODE_MESSAGES: WriteErrorMessages = {
  timedOut: 'Update mode operation timed out',
  notStored: 'Failed to update mode',
  notForwarded: 'Error while forwarding update mode request to the leader',
  leaderless: 'Failed to update mode',
}
export const DELETE_MODE_MESSAGES: WriteErrorMessages = {
  timedOut: 'Delete mode operation timed out',
  notStored: 'Failed to delete mode',
  notForwarded: 'Error while forwarding delete mode request to the leader',
  leaderless: 'Failed to delete mode',
}
export const DELETE_CONTEXT_MESSAGES: WriteErrorMessages = {
  timedOut: 'Delete context operation timed out',
  notStored: 'Delete context operation failed while writing to the Kafka store',
  notForwarded: 'Error while forwarding delete context request to the leader',
  leaderless: 'Leader not known.',
}
export const CREATE_KEY_MESSAGES: WriteErrorMessages = {
  timedOut: 'Error while creating key: the write timed out',
  notStored: 'Error while creating key: the write to the Kafka store failed',
  notForwarded: 'Error while creating key: forwarding the request to the leader failed',
  leaderless: 'Error while creating key: Request failed since leader is unknown',
}
export const UPDATE_KEY_MESSAGES: WriteErrorMessages = {
  timedOut: 'Error while updating key: the write timed out',
  notStored: 'Error while updating key: the write to the Kafka store failed',
  notForwarded: 'Error while updating key: forwarding the request to the leader failed',
  leaderless: 'Error while updating key: Request failed since leader is unknown',
}
export const DELETE_KEY_MESSAGES: WriteErrorMessages = {
  timedOut: 'Error while deleting key: the write timed out',
  notStored: 'Error while deleting key: the write to the Kafka store failed',
  notForwarded: 'Error while deleting key: forwarding the request to the leader failed',
  leaderless: 'Error while deleting key: Request failed since leader is unknown',
}
export const UNDELETE_KEY_MESSAGES: WriteErrorMessages = {
  timedOut: 'Error while undeleting key: the write timed out',
  notStored: 'Error while undeleting key: the write to the Kafka store failed',
  notForwarded: 'Error while undeleting key: forwarding the request to the leader failed',
  leaderless: 'Error while undeleting key: Request failed since leader is unknown',
}
