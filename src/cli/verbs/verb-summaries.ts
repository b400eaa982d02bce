/** One line about each verb, for the list of commands: it is printed without loading the code of the verbs. */
export const VERB_SUMMARIES = {
  get: 'list connectors or subjects',
  describe: 'show everything about connectors or subjects',
  logs: 'show what a connector has logged',
  pause: 'pause connectors',
  resume: 'resume connectors',
  stop: 'stop connectors',
  restart: 'restart connectors or tasks',
  delete: 'delete connectors or subjects',
  offsets: 'show or change the offsets of connectors',
  lag: 'show how far sinks are behind',
  versions: 'list the versions of subjects',
} as const

export type VerbName = keyof typeof VERB_SUMMARIES
