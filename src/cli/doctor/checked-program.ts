import type { RegistrySettings } from '../../registry/settings.ts'
import type { WorkerSettings } from '../../worker/settings.ts'
import type { CheckedTopic } from './check-broker.ts'
import { type DeclaredAcl, PROGRAM_ACLS } from './program-acls.ts'

/** A program with the topics in which it keeps its state, and the rights that it needs with its settings. */
export type CheckedProgram = {
  readonly program: 'registry' | 'worker'
  readonly topics: readonly CheckedTopic[]
  readonly acls: readonly DeclaredAcl[]
}

export function checkedRegistry({ values }: Pick<RegistrySettings, 'values'>): CheckedProgram {
  const { 'brokerstore.topic': topic, 'schema.registry.group.id': group, 'dek.registry.topic': keys } = values
  const declared = [...aclsOf('registry'), ...(values['weir.dek.registry.enable'] ? aclsOf('DEK registry') : [])]
  const acls = renamed(declared, {
    _schemas: topic,
    _dek_registry_keys: keys,
    'schema-registry': group,
    'schema-registry-_schemas-leader': `${group}-${topic}-leader`,
  })
  return {
    program: 'registry',
    topics: [{ program: 'registry', setting: 'brokerstore.topic', name: topic }],
    acls: values['brokerstore.topic.skip.validation'] ? acls.filter((acl) => !isValidation(acl, topic)) : acls,
  }
}

export function checkedWorker({ values }: Pick<WorkerSettings, 'values'>): CheckedProgram {
  const settings = ['config.storage.topic', 'offset.storage.topic', 'status.storage.topic'] as const
  const acls = renamed(aclsOf('worker'), {
    'connect-cluster': values['group.id'],
    'connect-configs': values['config.storage.topic'],
    'connect-offsets': values['offset.storage.topic'],
    'connect-status': values['status.storage.topic'],
  })
  return {
    program: 'worker',
    topics: settings.map((setting) => ({ program: 'worker', setting, name: values[setting] })),
    acls: values['storage.topics.skip.validation'] ? acls.filter((acl) => !isValidation(acl)) : acls,
  }
}

function aclsOf(program: string): readonly DeclaredAcl[] {
  return PROGRAM_ACLS.filter((one) => one.program === program).flatMap(({ acls }) => acls)
}

/** The declared ACLs with the names of the settings instead of the default ones. */
function renamed(acls: readonly DeclaredAcl[], names: Readonly<Record<string, string>>): readonly DeclaredAcl[] {
  return acls.map((acl) => ({ ...acl, resourceName: names[acl.resourceName ?? ''] ?? acl.resourceName }))
}

/** Whether it is needed only to check a topic at the start. */
function isValidation({ operation, resourceName }: DeclaredAcl, topic = resourceName): boolean {
  return operation === 'DESCRIBE_CONFIGS' && resourceName === topic
}
