import { BrokerError } from '../../broker/broker-error.ts'
import type { OnProgress } from '../../broker/embedded/maintenance/backup.ts'
import { messageOf } from '../../common/errors.ts'
import { type Command, type ExitCode, parseArguments, parseVerb, UsageError } from '../command.ts'
import { backupText, repairText, restoreText, verifyText } from '../data/maintenance-report.ts'
import { createProgressBar } from '../terminal/progress-bar.ts'

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  to: { type: 'string' },
  from: { type: 'string' },
  replace: { type: 'boolean', default: false },
  output: { type: 'string', default: 'text' },
} as const

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']
const VERBS = ['verify', 'repair', 'backup', 'restore'] as const
type Verb = (typeof VERBS)[number]
/** What is printed; `isGood` decides the exit code. */
type Outcome = { readonly report: object; readonly text: string; readonly isGood: boolean }

export const dataCommand: Command = {
  help: `usage: weir data verify DIR
       weir data repair DIR
       weir data backup DIR --to BACKUP
       weir data restore DIR --from BACKUP [--replace]

Maintains the data directory of an embedded broker (weir … --data DIR).

  verify   compares all data with its checksums; exit code 1 when DIR is damaged
  repair   rebuilds DIR from everything that is intact and lists what is lost by topic, partition and offsets (exit
           code 1 when records are lost); the damaged files are kept in DIR/damaged-TIME
  backup   copies a consistent snapshot of DIR to BACKUP, a new directory, and verifies the copy
  restore  verifies BACKUP and copies it to DIR

backup and verify work while a program uses DIR; repair and restore do not.

  --to BACKUP        directory to create
  --from BACKUP      directory that weir data backup has written
  --replace          restore to a DIR that is not empty: its files are kept in DIR/replaced-TIME
  --output json      print the result as a JSON object
  --help

Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 undecided, such as when a program uses DIR.

  weir data backup ./d --to ./d-backup`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    const { verb, directory } = parse(positionals, values)
    const progress = createProgressBar(process.stderr)
    try {
      const { report, text, isGood } = await run(verb, directory, values, showIn(progress))
      progress.end()
      process.stdout.write(`${values.output === 'json' ? JSON.stringify(report) : text}\n`)
      return isGood ? 0 : 1
    } catch (error) {
      progress.end()
      return reportBrokerError(error)
    }
  },
}

function parse([word, directory, ...more]: readonly string[], values: Values) {
  const usage = 'a command and a directory: weir data verify DIR, or repair, backup or restore'
  const verb = parseVerb('data', word, VERBS, usage)
  if (directory === undefined) throw new UsageError(`expected ${usage}`)
  if (more.length > 0) throw new UsageError(`weir data ${verb} takes one directory: '${more[0]}' is unexpected`)
  if (values.output !== 'text' && values.output !== 'json') {
    throw new UsageError(`--output ${values.output}: expected text or json`)
  }
  if ((values.to !== undefined) !== (verb === 'backup')) {
    throw new UsageError(
      verb === 'backup' ? 'weir data backup needs --to BACKUP' : '--to applies to weir data backup only',
    )
  }
  if ((values.from !== undefined) !== (verb === 'restore')) {
    throw new UsageError(
      verb === 'restore' ? 'weir data restore needs --from BACKUP' : '--from applies to weir data restore only',
    )
  }
  if (values.replace && verb !== 'restore') throw new UsageError('--replace applies to weir data restore only')
  return { verb, directory }
}

async function run(verb: Verb, directory: string, values: Values, onProgress: OnProgress): Promise<Outcome> {
  const nowMs = Date.now()
  switch (verb) {
    case 'verify': {
      const { verifyDirectory } = await import('../../broker/embedded/maintenance/verify.ts')
      const report = verifyDirectory(directory)
      return { report, text: verifyText(report), isGood: report.faults.length === 0 }
    }
    case 'repair': {
      const { repair } = await import('../../broker/embedded/maintenance/repair.ts')
      const report = repair(directory, nowMs, onProgress)
      return { report, text: repairText(report), isGood: report.lost.length === 0 && report.notes.length === 0 }
    }
    case 'backup': {
      const { backUp } = await import('../../broker/embedded/maintenance/backup.ts')
      const report = await backUp(directory, values.to!, onProgress)
      return { report, text: backupText(report), isGood: true }
    }
    case 'restore': {
      const { restore } = await import('../../broker/embedded/maintenance/restore.ts')
      const report = restore(values.from!, directory, { replaces: values.replace, nowMs })
      return { report, text: restoreText(report), isGood: true }
    }
  }
}

/** Shows one progress bar for each kind of work. */
function showIn(progress: ReturnType<typeof createProgressBar>): OnProgress {
  let current = ''
  let at = 0
  return (phase, done, total) => {
    if (phase !== current || done < at) {
      progress.begin(phase, total)
      current = phase
      at = 0
    }
    for (; at < done; at++) progress.step()
  }
}

/** Exit code 1 for a damaged directory; 3 when a program uses it or the disk is full, so that nothing is known. */
function reportBrokerError(error: unknown): ExitCode {
  if (!(error instanceof BrokerError)) throw error
  process.stderr.write(`weir: ${messageOf(error)}\n`)
  return error.code === 'data_corrupt' || error.code === 'data_newer' || error.code === 'invalid_config' ? 1 : 3
}
