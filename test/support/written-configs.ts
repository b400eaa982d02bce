import { fetchFromJava } from './java-requests.ts'

const CLASS = '"connector.class": "FileStreamSource", "file": "/tmp/none.txt", "topic": "t", "tasks.max": 1'

type Row = readonly [what: string, body: string, name: string, stored: Readonly<Record<string, string>>]

/** Bodies of requests that create a connector, with its name and keys as Kafka Connect stores them. */
export const WRITTEN_CONFIGS: readonly Row[] = [
  [
    'numbers as they are written',
    `{"name": "numbers", "config": {${CLASS}, "a": 1.0, "b": 0.10, "c": 1e3, "d": 1E-7, "e": -0, "f": 12345678901234567890123, "g": 1.0E+2}}`,
    'numbers',
    { a: '1.0', b: '0.10', c: '1e3', d: '1E-7', e: '-0', f: '12345678901234567890123', g: '1.0E+2' },
  ],
  [
    'booleans and texts',
    `{"name": "texts", "config": {${CLASS}, "a": true, "b": "1.0", "c": " 1e3 ", "d": ""}}`,
    'texts',
    { a: 'true', b: '1.0', c: ' 1e3 ', d: '' },
  ],
  [
    'a name with white space that Java does not trim',
    `{"name": " \\t\\u00a0n\\u2003 ", "config": {${CLASS}}}`,
    '\u00a0n\u2003',
    { name: '\u00a0n\u2003' },
  ],
  ['a name that is a number', `{"name": 1.50, "config": {${CLASS}}}`, '1.50', { name: '1.50' }],
  [
    'a body with a byte order mark',
    `\ufeff{"name": "mark", "config": {${CLASS}, "a": "\\ufeff"}}`,
    'mark',
    { a: '\ufeff' },
  ],
]

/** Bodies that change the first one. */
export const WRITTEN_PATCH = '\ufeff{"a": 2.50, "b": null, "h": 1e0}'
export const PATCHED = { a: '2.50', c: '1e3', h: '1e0' }
export const WRITTEN_PUT = `{${CLASS}, "a": 3.0}`

/** A value of type INT beside white space that Java does not trim, and the error for it. */
export const UNTRIMMED = '{"connector.class": "FileStreamSource", "topic": "t", "name": "c", "tasks.max": "\u00a01"}'
export const UNTRIMMED_ERROR = 'Invalid value \u00a01 for configuration tasks.max: Not a number of type INT'

export async function sendText(method: string, url: string, body: string): Promise<unknown> {
  const response = await fetchFromJava(url, { method, headers: { 'content-type': 'application/json' }, body })
  return response.json()
}
