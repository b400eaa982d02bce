import { counted } from '../../common/counted.ts'
import { STORED_VERSION } from '../../common/resource-api.ts'
import { crdFiles } from '../../operator/crd-files.ts'
import { rbacText } from '../../operator/rbac.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'

const OPTIONS = {
  rbac: { type: 'boolean', default: false },
  migrate: { type: 'boolean', default: false },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  namespace: { type: 'string', default: 'weir' },
  watch: { type: 'string', multiple: true },
  webhook: { type: 'boolean', default: false },
  console: { type: 'boolean', default: false },
  'offsets-export': { type: 'boolean', default: false },
  secrets: { type: 'boolean', default: false },
  'namespace-labels': { type: 'boolean', default: false },
  instance: { type: 'string', default: 'weir' },
} as const

export const crdsCommand: Command = {
  help: `usage: weir crds [--rbac [--namespace NAME] [--watch NAME] [--webhook] [--console] [--offsets-export]
                           [--secrets] [--namespace-labels] [--instance NAME]]
                 [--migrate [--context NAME] [--kubeconfig FILE]]

Prints the CustomResourceDefinitions of this version, or with --rbac the ServiceAccount, roles and bindings of the
operator, with the least privileges that these options need.

With --migrate, it has the API server store all resources in the current API version: it writes each without a change, and
removes older versions from the status of the definitions. It needs the privileges of a cluster administrator.

  --namespace NAME    namespace of the operator; default: weir
  --watch NAME        namespace whose resources the operator manages; may be repeated; default: all namespaces
  --webhook           the operator validates resources at admission
  --console           the operator serves the console, and identifies its users by their Kubernetes tokens
  --offsets-export    Connectors may export their offsets to ConfigMaps
  --secrets           the operator restarts Connectors when Secrets change: it may read Secrets in watched namespaces
  --instance NAME     instance in the operator's configuration; its Lease is NAME-operator; default: weir
  --namespace-labels  the configuration uses allowedNamespaces with from: Selector, or onUnreachableDelete: Abandon: the
                      operator may read namespaces

  weir crds | kubectl apply --server-side -f -
  weir crds --rbac --watch shop | kubectl apply --server-side -f -
  weir crds --migrate --context production`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0) throw new UsageError(`weir crds takes no arguments: '${positionals[0]}' is unexpected`)
    if (values.migrate) return migrate(values)
    if (values.context !== undefined || values.kubeconfig !== undefined)
      throw new UsageError('--context and --kubeconfig name the cluster of --migrate')
    const { rbac, namespace, watch: watched = [], webhook, console, secrets, instance } = values
    const { 'offsets-export': offsetsExport, 'namespace-labels': namespaceLabels } = values
    process.stdout.write(
      rbac
        ? rbacText({ namespace, watched, webhook, console, offsetsExport, secrets, namespaceLabels, instance })
        : crdFiles()
            .map(({ text }) => text)
            .join('---\n'),
    )
    return 0
  },
}

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

async function migrate({ rbac, kubeconfig, context }: Values): Promise<ExitCode> {
  if (rbac) throw new UsageError('--migrate and --rbac exclude each other: give one of them')
  const { openKubernetesApi } = await import('../../clients/kubernetes/kubernetes-api.ts')
  const { migrateStoredObjects } = await import('../../operator/stored-objects.ts')
  const api = openKubernetesApi(kubeconfig, undefined, context)
  try {
    for (const { definition, objects } of await migrateStoredObjects(api)) {
      const done = objects === undefined ? 'all objects were' : `${counted(objects, 'object')} written, and all are`
      process.stdout.write(`${definition}: ${done} stored as ${STORED_VERSION}\n`)
    }
    return 0
  } finally {
    api.close()
  }
}
