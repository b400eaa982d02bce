import { crdFiles, rbacText } from '../../operator/crds.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'

const OPTIONS = {
  rbac: { type: 'boolean', default: false },
  namespace: { type: 'string', default: 'weir' },
  watch: { type: 'string', multiple: true },
  webhook: { type: 'boolean', default: false },
  'offsets-export': { type: 'boolean', default: false },
  secrets: { type: 'boolean', default: false },
  'namespace-labels': { type: 'boolean', default: false },
  instance: { type: 'string', default: 'weir' },
} as const

export const crdsCommand: Command = {
  help: `usage: weir crds [--rbac [--namespace NAME] [--watch NAME] [--webhook] [--offsets-export] [--secrets]
                           [--namespace-labels] [--instance NAME]]

Prints the CustomResourceDefinitions of this version.

  --rbac              a service account for the operator instead, and what it needs to be allowed, no verb more
  --namespace NAME    where the operator lives; default: weir
  --watch NAME        whose resources it keeps; may be given several times; default: those of all namespaces
  --webhook           it judges what is declared before it is stored
  --offsets-export    Connectors may keep copies of their offsets in ConfigMaps
  --secrets           Connectors restart when Secrets change: it may read those of the namespaces that it watches
  --instance NAME     instance of the operator's configuration, which names its Lease NAME-operator; default: weir
  --namespace-labels  entries say allowedNamespaces from Selector, or onUnreachableDelete: Abandon: it may see namespaces

  weir crds | kubectl apply --server-side -f -
  weir crds --rbac --watch shop | kubectl apply --server-side -f -`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0) throw new UsageError(`weir crds takes options only, not '${positionals[0]}'`)
    const { rbac, namespace, watch: watched = [], webhook, secrets, instance } = values
    const { 'offsets-export': offsetsExport, 'namespace-labels': namespaceLabels } = values
    process.stdout.write(
      rbac
        ? rbacText({ namespace, watched, webhook, offsetsExport, secrets, namespaceLabels, instance })
        : crdFiles()
            .map(({ text }) => text)
            .join('---\n'),
    )
    return 0
  },
}
