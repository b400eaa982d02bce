import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { rewriteManifests } from '../../../src/cli/convert/rewrite-manifests.ts'
import { API_VERSION, DEPRECATED_API_VERSIONS } from '../../../src/common/resource-api.ts'

const [OLD] = DEPRECATED_API_VERSIONS as readonly [string]

/** The text after the rewriting of one in which OLD stands for the deprecated version. */
function rewritten(template: string) {
  const { rewritten, errors } = rewriteManifests(template.replaceAll('OLD', OLD), 'a.yaml')!
  return { ...rewritten, errors }
}

describe('the API version of manifests', () => {
  it.each([
    ['is plain', 'apiVersion: OLD # of last year\nkind: Subject\n'],
    ['is quoted', `kind: Subject\napiVersion: 'OLD'\n---\n# second\napiVersion: "OLD"\n`],
    ['is JSON', '{ "kind" : "Subject",\n\t"apiVersion":"OLD" }'],
    ['is in a flow map', '{apiVersion: OLD, kind: Subject}'],
    ['is a block', 'apiVersion: >-\n  OLD\nkind: Subject\n'],
    ['has an anchor', 'apiVersion: &v OLD\nkind: Subject\nmetadata: {annotations: {v: *v}}\n'],
    ['comes from a merge key', 'base: &b {apiVersion: OLD}\n<<: *b\nkind: Subject\n'],
    ['has Windows line ends', 'apiVersion: OLD\r\nkind: Subject # x\r\n'],
    ['has no line end', 'kind: Subject\napiVersion: OLD'],
    ['is in a list', 'apiVersion: v1\nkind: List\nitems:\n- apiVersion: OLD\n  kind: Subject\n- {apiVersion: OLD}\n'],
    ['is that of a typed list', 'apiVersion: OLD\nkind: SubjectList\nitems: [{metadata: {name: a}}]\n'],
  ])('is replaced, and nothing else, when it %s', (_, template) => {
    const { text, errors } = rewritten(template)
    expect(errors).toEqual([])
    expect(text).toBe(template.replaceAll('OLD', API_VERSION))
  })

  it('with escapes is written anew', () => {
    const escaped = `{"apiVersion": "${OLD.replace('/', '\\/')}", "kind": "Subject"}`
    expect(rewriteManifests(escaped, 'a.json')!.rewritten.text).toBe(
      `{"apiVersion": "${API_VERSION}", "kind": "Subject"}`,
    )
  })

  it('is not replaced in texts and in other documents', () => {
    const template = [
      'apiVersion: v1\nkind: ConfigMap\ndata:\n  manifest: |\n    apiVersion: OLD\n',
      'apiVersion: CURRENT\nkind: Subject\nmetadata: {annotations: {last: "OLD"}}\n',
      'apiVersion: config.OLD\nkind: OperatorConfig\n',
    ].join('---\n')
    const text = template.replaceAll('OLD', OLD).replaceAll('CURRENT', API_VERSION)
    expect(rewriteManifests(text, 'a.yaml')).toEqual({ rewritten: { file: 'a.yaml', text, count: 0 }, errors: [] })
  })

  it('of each resource counts once, also when several share its text', () => {
    const template = 'kind: List\napiVersion: v1\nitems:\n- &a {apiVersion: OLD, kind: Subject}\n- *a\n'
    const { text, count } = rewritten(template)
    expect(text).toBe(template.replaceAll('OLD', API_VERSION))
    expect(count).toBe(2)
    expect(parseAllDocuments(text)).toHaveLength(1)
  })

  it('that nobody knows is an error with its line', () => {
    const { text, errors } = rewritten('apiVersion: OLD\n---\nkind: Subject\napiVersion: weir.dev/v9\n')
    expect(text).toContain(`apiVersion: ${API_VERSION}\n---`)
    expect(errors).toEqual([
      { file: 'a.yaml', line: 4, message: expect.stringContaining('is weir.dev/v9: expected one of') },
    ])
  })

  it('is replaced beside a document that is not YAML, which is an error', () => {
    const { text, errors } = rewritten('apiVersion: OLD\n---\na: {{ .Values.x }\n')
    expect(text).toContain(`apiVersion: ${API_VERSION}\n---\na: {{`)
    expect(errors).toMatchObject([{ line: 4 }])
  })

  it.each([
    '',
    '# only a comment\n',
    'apiVersion: v1\nkind: Secret\n',
    'weir.dev: 1\n',
    '- weir.dev/v1alpha1\n',
    'null\n',
  ])('is absent from %j, which is no manifest of Weir', (text) => {
    expect(rewriteManifests(text, 'a.yaml')).toBeUndefined()
  })
})
