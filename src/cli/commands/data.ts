import type { OnProgress } from '../../broker/embedded/maintenance/online-copy.ts'
import { BrokerError } from '../../broker/error.ts'
import { messageOf } from '../../config/errors.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'
import { backupText, repairText, restoreText, verifyText } from '../data/report.ts'
import { createProgressBar } from '../terminal/progress-bar.ts'

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  to: { type: 'string' },
  from: { type: 'string' },
  replace: { type: 'boolean', default: false },
  output: { type: 'string', default: 'text' },
} as const

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']
type Verb = 'verify' | 'repair' | 'backup' | 'restore'
/** What a verb has to print, and whether the answer is yes. */
type Outcome = { readonly report: object; readonly text: string; readonly isGood: boolean }

export const dataCommand: Command = {
  help: `usage: weir data verify DIR
       weir data repair DIR
       weir data backup DIR --to BACKUP
       weir data restore DIR --from BACKUP [--replace]

Looks after the data directory of an embedded broker (weir … --data DIR).

  verify   compares everything with its checksums; exit code 1 when DIR is damaged
  repair   makes a sound directory of what can be read, says what can't (topic, partition, offsets; exit code 1 when
           records are lost), and keeps the damaged files in DIR/damaged-TIME
  backup   copies DIR as it was at one moment into BACKUP, a new directory, and reads the copy in full
  restore  makes DIR what BACKUP is, after reading BACKUP in full

backup and verify may be run while a program uses DIR, repair and restore may not.

  --to BACKUP        where the copy goes
  --from BACKUP      what weir data backup has written
  --replace          DIR is not empty: what is there goes into DIR/replaced-TIME
  --output json      the outcome as a JSON object
  --help

Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 could not decide, such as when a program uses DIR.

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

function parse([verb, directory, ...more]: readonly string[], values: Values) {
  if (!isVerb(verb) || directory === undefined) {
    throw new UsageError('which data directory? weir data verify DIR, or repair, backup or restore')
  }
  if (more.length > 0) throw new UsageError(`weir data ${verb} takes one directory, '${more[0]}' is too many`)
  if (values.output !== 'text' && values.output !== 'json') {
    throw new UsageError(`--output ${values.output}: expected text or json`)
  }
  if ((values.to !== undefined) !== (verb === 'backup')) {
    throw new UsageError(
      verb === 'backup' ? 'where to? weir data backup DIR --to BACKUP' : '--to is of weir data backup',
    )
  }
  if ((values.from !== undefined) !== (verb === 'restore')) {
    throw new UsageError(
      verb === 'restore' ? 'from what? weir data restore DIR --from BACKUP' : '--from is of weir data restore',
    )
  }
  if (values.replace && verb !== 'restore') throw new UsageError('--replace is of weir data restore')
  return { verb, directory }
}

function isVerb(text: string | undefined): text is Verb {
  return text === 'verify' || text === 'repair' || text === 'backup' || text === 'restore'
}

async function run(verb: Verb, directory: string, values: Values, onProgress: OnProgress): Promise<Outcome> {
  const nowMs = Date.now()
  switch (verb) {
    case 'verify': {
      const { verifyDirectory } = await import('../../broker/embedded/maintenance/verify.ts')
      const report = await verifyDirectory(directory, onProgress)
      return { report, text: verifyText(report), isGood: report.faults.length === 0 }
    }
    case 'repair': {
      const { repair } = await import('../../broker/embedded/maintenance/repair.ts')
      const report = await repair(directory, nowMs, onProgress)
      return { report, text: repairText(report), isGood: report.lost.length === 0 && report.notes.length === 0 }
    }
    case 'backup': {
      const { backUp } = await import('../../broker/embedded/maintenance/backup.ts')
      const report = await backUp(directory, values.to!, onProgress)
      return { report, text: backupText(report), isGood: true }
    }
    case 'restore': {
      const { restore } = await import('../../broker/embedded/maintenance/restore.ts')
      const report = await restore(values.from!, directory, { replaces: values.replace, nowMs, onProgress })
      return { report, text: restoreText(report), isGood: true }
    }
  }
}

/** A bar for each kind of work. */
function showIn(progress: ReturnType<typeof createProgressBar>): OnProgress {
  let current = ''
  let at = 0
  return (what, done, all) => {
    if (what !== current || done < at) {
      progress.begin(what, all)
      current = what
      at = 0
    }
    for (; at < done; at++) progress.step()
  }
}

/** Damage is an answer; a directory in use, or a disk without space, leaves the question open. */
function reportBrokerError(error: unknown): ExitCode {
  if (!(error instanceof BrokerError)) throw error
  process.stderr.write(`weir: ${messageOf(error)}\n`)
  return error.code === 'data_corrupt' || error.code === 'data_newer' || error.code === 'invalid_config' ? 1 : 3
}
