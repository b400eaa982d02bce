import { isFields, UnevaluatedExpression } from './source-object.ts'

const TEMPLATE = /(?<!\$)\$\{|(?<!%)%\{/
const EXPRESSION = /^\$\{([^{}]*)\}$/

/** In Terraform's JSON syntax, every text is a template: `${var.name}` is an expression, and `$${` stands for `${`. */
export function markTemplates(value: unknown): unknown {
  if (typeof value === 'string') {
    if (TEMPLATE.test(value)) return new UnevaluatedExpression(EXPRESSION.exec(value)?.[1]?.trim() ?? value)
    return value.replaceAll('$${', '${').replaceAll('%%{', '%{')
  }
  if (Array.isArray(value)) return value.map(markTemplates)
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, markTemplates(each)]))
}
