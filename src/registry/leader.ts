/** Who writes. Only the leader appends to the topic; the others pass writes on to it. */
export type Leadership = {
  readonly isLeader: () => boolean
}

/** An instance that is alone with its topic. */
export const soleLeader: Leadership = { isLeader: () => true }
