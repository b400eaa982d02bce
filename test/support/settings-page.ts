import type { z } from 'zod'
import type { SettingsSpec } from '../../src/config/settings.ts'

/** Generates the reference page of a program's settings from their definitions. */
export function settingsPage(title: string, intro: string, spec: SettingsSpec<z.ZodObject>): string {
  const rows = Object.entries(spec.shape.shape).map(([key, type]) => settingRow(key, type as z.ZodType))
  const aliases = Object.entries(spec.aliases).map(([alias, name]) => `\`${alias}\`: another name of \`${name}\``)
  return [
    `# ${title}\n\n${intro}\n`,
    '| Setting | Takes | Default | Meaning |\n| --- | --- | --- | --- |',
    `${rows.join('\n')}\n`,
    ...listOf('Other names', aliases),
    '## Settings without effect\n\nThese settings are accepted with a warning, and have no effect:\n',
    ...Object.entries(spec.withoutEffect ?? {}).map(([key, reason]) => `- \`${key}\`: ${reason}`),
    '',
  ].join('\n')
}

function listOf(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`## ${title}\n`, ...items.map((item) => `- ${item}`), '']
}

function settingRow(key: string, type: z.ZodType): string {
  const initial = defaultOf(type)
  const cells = [`\`${key}\``, takesOf(type), initial === '' ? '' : `\`${initial}\``, type.description ?? '']
  if (type.description === undefined) throw new Error(`${key} has no description`)
  return `| ${cells.join(' | ')} |`
}

/** The `takes` metadata of the outermost type that has it. */
function takesOf(type: z.ZodType): string {
  const takes = type.meta()?.['takes']
  const inner = (type.def as { innerType?: z.ZodType }).innerType
  return typeof takes === 'string' ? takes : inner ? takesOf(inner) : 'text'
}

function defaultOf(type: z.ZodType): string {
  const result = type.safeParse(undefined)
  return result.success && result.data !== undefined ? [result.data].flat().join(',') : ''
}
