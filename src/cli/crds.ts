import { crdFiles } from '../operator/crds.ts'
import { type Command, readArgs, UsageError } from './command.ts'

export const crds: Command = {
  help: `usage: weir crds

Prints the CustomResourceDefinitions of this version.

  weir crds | kubectl apply --server-side -f -`,

  async run(args) {
    const { positionals } = readArgs(args, {})
    if (positionals.length > 0) throw new UsageError(`weir crds takes no arguments: '${positionals[0]}' is too many`)
    process.stdout.write(
      crdFiles()
        .map(({ text }) => text)
        .join('---\n'),
    )
    return 0
  },
}
