import type { ListedCommand } from './command.ts'
import { VERB_SUMMARIES, type VerbName } from './verbs/verb-summaries.ts'

export const COMMAND_GROUPS = ['Programs', 'Connectors and subjects', 'Manifests', 'Topics and data', 'Other'] as const
type CommandGroup = (typeof COMMAND_GROUPS)[number]
/** `group`: the heading of the help below which the command is listed. */
type CommandEntry = ListedCommand & { readonly group: CommandGroup }

/** A command of the group `Programs` runs until it is stopped. */
export const PROGRAMS: CommandGroup = 'Programs'

const verb = (name: VerbName): CommandEntry => ({
  group: 'Connectors and subjects',
  summary: VERB_SUMMARIES[name],
  load: async () => (await import('./verbs/verbs.ts')).commandOfVerb(name),
})

/** The code of a command is loaded when the command is used. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  up: {
    group: 'Programs',
    summary: 'run the connectors and schemas of a directory of manifests',
    load: async () => (await import('./commands/up.ts')).upCommand,
  },
  registry: {
    group: 'Programs',
    summary: 'run a schema registry',
    load: async () => (await import('./commands/registry.ts')).registryCommand,
  },
  worker: {
    group: 'Programs',
    summary: 'run a connector worker',
    load: async () => (await import('./commands/worker.ts')).workerCommand,
  },
  operator: {
    group: 'Programs',
    summary: 'reconcile the resources of a Kubernetes cluster',
    load: async () => (await import('./commands/operator.ts')).operatorCommand,
  },
  get: verb('get'),
  describe: verb('describe'),
  logs: verb('logs'),
  pause: verb('pause'),
  resume: verb('resume'),
  stop: verb('stop'),
  restart: verb('restart'),
  delete: verb('delete'),
  offsets: verb('offsets'),
  lag: verb('lag'),
  versions: verb('versions'),
  check: {
    group: 'Manifests',
    summary: 'check manifests before they are applied',
    load: async () => (await import('./commands/check.ts')).checkCommand,
  },
  diff: {
    group: 'Manifests',
    summary: 'print what applying manifests would change',
    load: async () => (await import('./commands/diff.ts')).diffCommand,
  },
  generate: {
    group: 'Manifests',
    summary: 'write manifests of running connectors and schemas',
    load: async () => (await import('./commands/generate.ts')).generateCommand,
  },
  crds: {
    group: 'Manifests',
    summary: 'print the CustomResourceDefinitions, or migrate stored resources',
    load: async () => (await import('./commands/crds.ts')).crdsCommand,
  },
  convert: {
    group: 'Manifests',
    summary: 'convert manifests of other systems, and of earlier API versions, to manifests of Weir',
    load: async () => (await import('./commands/convert.ts')).convertCommand,
  },
  data: {
    group: 'Topics and data',
    summary: 'verify, repair, back up and restore the data of an embedded broker',
    load: async () => (await import('./commands/data.ts')).dataCommand,
  },
  topic: {
    group: 'Topics and data',
    summary: 'print the records of a topic, back it up to a file, and restore it',
    load: async () => (await import('./commands/topic.ts')).topicCommand,
  },
  dlq: {
    group: 'Topics and data',
    summary: 'show and replay dead letters',
    load: async () => (await import('./commands/dlq.ts')).dlqCommand,
  },
  export: {
    group: 'Topics and data',
    summary: 'export the content of a schema registry to files',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  import: {
    group: 'Topics and data',
    summary: 'import an export into a schema registry, with the same ids',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  takeover: {
    group: 'Other',
    summary: 'describe the takeover of a group of other workers or registries',
    load: async () => (await import('./commands/takeover.ts')).takeoverCommand,
  },
  doctor: {
    group: 'Other',
    summary: 'check brokers, programs, Kubernetes, clocks, certificates and disk, and say what to do',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  plugins: {
    group: 'Other',
    summary: 'list, describe and create plugins',
    load: async () => (await import('./commands/plugins.ts')).pluginsCommand,
  },
  health: {
    group: 'Other',
    summary: 'check the health of running programs',
    load: async () => (await import('./commands/health.ts')).healthCommand,
  },
  password: {
    group: 'Other',
    summary: 'create a line of a users file',
    load: async () => (await import('./commands/password.ts')).passwordCommand,
  },
  completion: {
    group: 'Other',
    summary: 'print a script that completes command lines in bash, zsh and fish',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
  complete: {
    group: 'Other',
    summary: 'print the words that complete a command line, for weir completion',
    load: async () => (await import('./commands/complete.ts')).completeCommandOf(COMMANDS),
  },
}
