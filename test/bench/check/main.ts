import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { type Command, run } from '../../env/process.ts'
import { weirCommand } from '../../support/cli.ts'
import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'

/** Prints the CPU time, in ms, and the memory, in MB, that a process needed. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
    process.stderr.write('\\nusage ' + (userCPUTime + systemCPUTime) / 1000 + ' ' + maxRSS / 1024 + '\\n')
  })`,
)}`
const FIELDS = 10
/** The aims are above the ratios of the first measurement, so that a slower check is noticed. */
const SIZES = [
  { subjects: 1_000, cpuAim: 7, memoryAim: 2 },
  { subjects: 10_000, cpuAim: 13, memoryAim: 6 },
] as const

type Usage = { readonly cpuMs: number; readonly memoryMb: number }

/** `weir check` of Subjects against an export, including the start of the program, compared with parsing the same files. */
export async function benchCheck({ rounds }: Settings): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const { subjects, cpuAim, memoryAim } of SIZES) {
    const root = mkdtempSync(join(tmpdir(), 'weir-check-'))
    try {
      writeSubjects(root, subjects)
      const [ours, parsing]: [Usage[], Usage[]] = [[], []]
      for (let round = 1; round <= rounds; round++) {
        progress(`weir check of ${subjects} schemas, round ${round} of ${rounds}`)
        const args = ['check', 'manifests', '--snapshot', 'snapshot.json']
        ours.push(await usageOf(weirCommand(root, args, ['--import', REPORT_USAGE])))
        const script = join(import.meta.dirname, 'parse-manifests.ts')
        const nodeArgs = ['--import', REPORT_USAGE, script, 'manifests']
        parsing.push(await usageOf({ file: process.execPath, args: nodeArgs, directory: root }))
      }
      figures.push(
        figureOf(`CPU time to check ${subjects} schemas`, 'ms', ours.map(cpuOf), parsing.map(cpuOf), cpuAim),
        figureOf(`memory to check ${subjects} schemas`, 'MB', ours.map(memoryOf), parsing.map(memoryOf), memoryAim),
      )
    } finally {
      rmSync(root, { recursive: true })
    }
  }
  return figures
}

/** Manifests of Subjects that each add a field to the version of an export. */
function writeSubjects(root: string, count: number): void {
  mkdirSync(join(root, 'manifests'))
  const names = Array.from({ length: count }, (_, at) => `subject-${at}`)
  const schema = (name: string, fields: number) =>
    JSON.stringify({
      type: 'record',
      name: name.replace('-', '_'),
      fields: Array.from({ length: fields }, (_, at) => ({
        name: `field_${at}`,
        type: ['null', 'string'],
        default: null,
      })),
    })
  for (const name of names) {
    const manifest = { apiVersion: API_VERSION, kind: 'Subject', metadata: { name } }
    writeFileSync(
      join(root, 'manifests', `${name}.yaml`),
      stringify({ ...manifest, spec: { adoptionPolicy: 'Adopt', schema: schema(name, FIELDS + 1) } }),
    )
  }
  const subjects = names.map((subject, at) => ({
    subject,
    versions: [{ version: 1, id: at + 1, schema: schema(subject, FIELDS) }],
  }))
  writeFileSync(join(root, 'snapshot.json'), JSON.stringify({ format: 'weir-registry-1', contexts: [], subjects }))
}

async function usageOf(command: Command): Promise<Usage> {
  const { code, stdout, stderr } = await run(command)
  const [, cpuMs, memoryMb] = /^usage (\S+) (\S+)$/m.exec(stderr) ?? []
  if (code !== 0 || cpuMs === undefined)
    throw new Error(`${command.args.join(' ')}: exit code ${code}\n${stdout.slice(0, 2_000)}${stderr}`)
  return { cpuMs: Number(cpuMs), memoryMb: Number(memoryMb) }
}

function figureOf(
  name: string,
  unit: Figure['unit'],
  ours: readonly number[],
  parsing: readonly number[],
  aim: number,
): Figure {
  return { name, unit, ours, against: { name: 'parsing the files', values: parsing }, aim }
}

function cpuOf({ cpuMs }: Usage): number {
  return cpuMs
}

function memoryOf({ memoryMb }: Usage): number {
  return memoryMb
}
