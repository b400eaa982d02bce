import type { BrokerAddress } from '../../broker/broker-address.ts'
import type { Setting } from '../../config/settings.ts'
import { brokerSettings, registrySettings } from '../../registry/settings.ts'
import { workerSettings } from '../../worker/settings.ts'
import { kafkaClientSettings, resolveBrokerAddress } from '../broker-flags.ts'
import { orMeant, UsageError } from '../command.ts'
import { readProgramSettings, STACK_GROUP_ID, settingsOfProgram } from '../program-options.ts'
import { commandBroker } from '../with-broker.ts'
import { type CheckedProgram, checkedRegistry, checkedWorker } from './checked-program.ts'

/** A broker, and the programs that use it. */
export type KafkaTarget = { readonly address: BrokerAddress; readonly programs: readonly CheckedProgram[] }

const PROGRAM_NAMES = ['registry', 'worker', 'operator'] as const
type ProgramName = (typeof PROGRAM_NAMES)[number]

/** Options that name brokers and programs. */
export type KafkaTargetValues = {
  readonly [Name in 'worker' | 'registry' | 'bootstrap' | 'data' | 'program' | 'config']?: string | undefined
} & { readonly set?: string[] | undefined }

/** The broker and the program whose settings are given. Throws a `UsageError` if they name no broker. */
export async function programTarget(values: KafkaTargetValues): Promise<KafkaTarget> {
  const written = readProgramSettings(values)
  switch (parseProgram(values.program ?? '')) {
    case 'registry':
      return registryTarget(values, written)
    case 'worker':
      return workerTarget(values, written)
    case 'operator':
      return stackTarget(values)
  }
}

/** An operator, or `weir up`, with a registry and a worker in its process. */
export function stackTarget(values: KafkaTargetValues): KafkaTarget {
  const written = readProgramSettings(values)
  const group: Setting = { key: 'group.id', value: STACK_GROUP_ID, source: 'the default' }
  const programs = [
    checkedRegistry(registrySettings(settingsOfProgram('registry', written))),
    checkedWorker(workerSettings([group, ...settingsOfProgram('worker', written)])),
  ]
  return { address: commandBroker(values).address, programs }
}

/** A registry and a worker with default settings, or the one of them that has an URL. Undefined if no broker is named. */
export function clientTarget(values: KafkaTargetValues): KafkaTarget | undefined {
  if (!namesBroker(values)) return undefined
  const { worker, registry } = values
  const written = readProgramSettings(values)
  const programs = [
    ...(registry !== undefined || worker === undefined ? [checkedRegistry(registrySettings(written))] : []),
    ...(worker !== undefined || registry === undefined ? [checkedWorker(workerSettings(written))] : []),
  ]
  return { address: commandBroker(values).address, programs }
}

export function namesBroker(values: KafkaTargetValues): boolean {
  return values.bootstrap !== undefined || readProgramSettings(values).some(({ key }) => key === 'bootstrap.servers')
}

function registryTarget(values: KafkaTargetValues, written: readonly Setting[]): KafkaTarget {
  const settings = registrySettings(written)
  const key = 'brokerstore.bootstrap.servers'
  const address = resolveBrokerAddress(values, { key, value: settings.values[key] }, brokerSettings(settings))
  return { address, programs: [checkedRegistry(settings)] }
}

async function workerTarget(values: KafkaTargetValues, written: readonly Setting[]): Promise<KafkaTarget> {
  // Loaded only here, because it takes long.
  const { resolveSettings } = await import('../../worker/main.ts')
  const settings = await resolveSettings(written)
  const key = 'bootstrap.servers'
  const value = written.some((setting) => setting.key === key) ? settings.values[key] : undefined
  const address = resolveBrokerAddress(values, { key, value }, kafkaClientSettings(settings.rest))
  return { address, programs: [checkedWorker(settings)] }
}

function parseProgram(text: string): ProgramName {
  const name = PROGRAM_NAMES.find((known) => known === text)
  if (name !== undefined) return name
  throw new UsageError(`--program ${text}: ${orMeant(text, PROGRAM_NAMES, `expected ${PROGRAM_NAMES.join(', ')}`)}`)
}
