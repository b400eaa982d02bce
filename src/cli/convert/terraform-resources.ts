import type { DocumentPath } from '../../common/document-path.ts'
import type { ConversionContext } from './conversion-context.ts'
import type { ResourceDraft } from './drafts.ts'
import type { SourceDocument } from './source-document.ts'
import { isFields, SourceObject } from './source-object.ts'
import { TERRAFORM_CONVERTERS, type TerraformResource } from './terraform.ts'
import { markTemplates } from './terraform-templates.ts'

type Fields = Readonly<Record<string, unknown>>

/** Resources whose content is part of a registry or of connectors but not of Weir's resources. */
const RELATED = /^confluent_(?:schema|subject|connect|custom_connector|tag|business_metadata|catalog)/

/**
 * A JSON document of Terraform, ready to be converted: the output of `terraform show -json`, or a configuration
 * (`.tf.json`), whose templates are marked. Undefined if it is another document.
 */
export function terraformDocumentOf(document: SourceDocument): SourceDocument | undefined {
  const { value } = document
  if (!isFields(value)) return undefined
  if (typeof value['format_version'] === 'string' && ('values' in value || 'planned_values' in value)) return document
  const isConfiguration = isFields(value['resource']) && !('kind' in value)
  return isConfiguration ? { ...document, value: markTemplates(value) } : undefined
}

/** Converts the resources of a Terraform file, or of the output of `terraform show -json`. */
export function convertTerraform(document: SourceDocument, context: ConversionContext): readonly ResourceDraft[] {
  const { value } = document
  if (!isFields(value)) return []
  if (context.from !== undefined && context.from !== 'terraform') {
    context.report.add('note', document, [], `is skipped: it is for terraform, and --from ${context.from} was given`)
    return []
  }
  if (isFields(value['module'])) {
    for (const name of Object.keys(value['module'])) {
      const remedy = 'convert the directory of the module, or the output of terraform show -json'
      context.report.add('note', document, ['module', name], `the resources of the module are not read: ${remedy}`)
    }
  }
  return [...configured(document, value, context), ...evaluated(document, value, context)].flatMap((resource) =>
    convertResource(resource, context),
  )
}

function convertResource(resource: TerraformResource, context: ConversionContext): readonly ResourceDraft[] {
  const { type, name, body } = resource
  const convert = Object.hasOwn(TERRAFORM_CONVERTERS, type) ? TERRAFORM_CONVERTERS[type] : undefined
  if (convert === undefined) {
    if (RELATED.test(type)) body.fail([], `${type}.${name} has no counterpart in Weir: keep it in Terraform`)
    else body.note([], `${type}.${name} is not converted: it stays in Terraform`)
    return []
  }
  const drafts = convert(resource, context)
  if (drafts.length > 0) body.reportUnread()
  else body.fail([], `${type}.${name} cannot be converted`)
  return drafts
}

/** `resource` of a configuration: by type, then by name. */
function configured(document: SourceDocument, value: Fields, { report }: ConversionContext): TerraformResource[] {
  const byType = isFields(value['resource']) ? value['resource'] : {}
  return Object.entries(byType).flatMap(([type, byName]) =>
    Object.entries(isFields(byName) ? byName : {}).flatMap(([name, bodies]) => {
      const isList = Array.isArray(bodies)
      return (isList ? bodies : [bodies]).flatMap((body: unknown, at) => {
        const path: DocumentPath = ['resource', type, name, ...(isList ? [at] : [])]
        return isFields(body) ? [{ type, name, body: new SourceObject(document, path, body, report) }] : []
      })
    }),
  )
}

/** The resources of a state or of a plan, of the root module and of all others. */
function evaluated(document: SourceDocument, value: Fields, { report }: ConversionContext): TerraformResource[] {
  const field = isFields(value['values']) ? 'values' : 'planned_values'
  const state = value[field]
  if (!isFields(state)) return []
  const resourcesOf = (module: unknown, path: DocumentPath): TerraformResource[] => {
    if (!isFields(module)) return []
    const { resources = [], child_modules: children = [] } = module
    const own = (Array.isArray(resources) ? resources : []).flatMap((resource: unknown, at) => {
      if (!isFields(resource) || resource['mode'] === 'data' || !isFields(resource['values'])) return []
      const { type, name, index, values } = resource
      const body = new SourceObject(document, [...path, 'resources', at, 'values'], values as Fields, report)
      return [
        { type: String(type), name: index === undefined ? String(name) : `${String(name)}-${String(index)}`, body },
      ]
    })
    const below = (Array.isArray(children) ? children : []).flatMap((child: unknown, at) =>
      resourcesOf(child, [...path, 'child_modules', at]),
    )
    return [...own, ...below]
  }
  return resourcesOf(state['root_module'], [field, 'root_module'])
}
