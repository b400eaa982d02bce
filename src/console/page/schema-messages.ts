import { findJsonLines, lineOfPointer } from './json-lines.ts'

/** What a registry says about a draft, and the line of the draft that it means. */
export type SchemaMessage = { readonly text: string; readonly line?: number }

/** Messages that describe the check instead of a problem. The text of the other version is in its view. */
const CONTEXT = /^\{(oldSchema|validateFields):/
const OLD_VERSION = /^\{oldSchemaVersion: (\d+)\}$/
const PATH = /path:? '([^']*)'/
const POSITION = /\b(?:at )?line:? (\d+)|\b(\d+):\d+:/i
/** The schema that a path is of: the first that a message names. */
const FIRST_SCHEMA = /\b(new|old) schema/

/** Finds the lines of the messages of a verbose compatibility check. Empty lines of a draft count. */
export function locateMessages(
  messages: readonly string[],
  draft: string,
  schemaType: string,
): readonly SchemaMessage[] {
  const problems = messages.filter((message) => !CONTEXT.test(message))
  return problems.map((message) => {
    const version = OLD_VERSION.exec(message)?.[1]
    if (version !== undefined) return { text: `Compared with version ${version}.` }
    const text = explainMessage(message)
    const line = lineOf(message, draft, schemaType)
    return line === undefined ? { text } : { text, line }
  })
}

/** The description of a message in the form `{errorType:'…', description:'…', additionalInfo:'…'}`; others as they are. */
export function explainMessage(message: string): string {
  const [, type, description] = /^\{errorType:['"](\w+)['"], description:['"]([\s\S]*)$/.exec(message) ?? []
  if (type === undefined || description === undefined) return message
  return `${description.replace(/'?, additionalInfo:[\s\S]*$|['"]?\s*\}$/g, '')} (${type})`
}

function lineOf(message: string, draft: string, schemaType: string): number | undefined {
  const path = PATH.exec(message)?.[1]
  if (schemaType === 'PROTOBUF')
    return (path === undefined ? undefined : lineOfField(path, draft)) ?? positionIn(message)
  const json = findJsonLines(draft)
  if (json.errorLine !== undefined) return json.errorLine
  if (path === undefined) return positionIn(message)
  // The path of an Avro message counts the fields of the schema that reads.
  if (schemaType === 'AVRO' && FIRST_SCHEMA.exec(message)?.[1] === 'old') return undefined
  return lineOfPointer(json, path)
}

function positionIn(message: string): number | undefined {
  const [, line, lineOfPair] = POSITION.exec(message) ?? []
  const found = line ?? lineOfPair
  return found === undefined ? undefined : Number(found)
}

/** The path of a Protobuf message is like `#/Order/2`: names of messages, and the number of a field. */
function lineOfField(path: string, draft: string): number | undefined {
  const parts = path.replace(/^#?\/?/, '').split(/[/.]/)
  const lines = draft.split('\n')
  let found: number | undefined
  for (const part of parts) {
    const at = lines.findIndex((line, index) => index + 1 >= (found ?? 1) && declares(line, part))
    if (at < 0) break
    found = at + 1
  }
  return found
}

/** Whether a line of Protobuf declares a field with a number, or a type with a name. */
function declares(line: string, part: string): boolean {
  if (/^\d+$/.test(part)) return /=\s*(\d+)\s*[;[]/.exec(line)?.[1] === part
  return /\b(?:message|enum|oneof|service)\s+(\w+)/.exec(line)?.[1] === part
}
