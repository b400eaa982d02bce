import { crdFiles } from '../../operator/crd-files.ts'
import { rbacText } from '../../operator/rbac.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'

const OPTIONS = {
  rbac: { type: 'boolean', default: false },
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

Prints the CustomResourceDefinitions of this version, or with --rbac the ServiceAccount, roles and bindings of the
operator, with the least privileges that these options need.

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
  weir crds --rbac --watch shop | kubectl apply --server-side -f -`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0) throw new UsageError(`weir crds takes no arguments: '${positionals[0]}' is unexpected`)
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
