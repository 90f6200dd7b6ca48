//! Finds what is type in a tree and marks it.

use crate::blanks::Blanks;
use crate::scan::{blanks_and_comments, tokens};
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};

pub(crate) struct Eraser<'t> {
    pub(crate) text: &'t str,
    pub(crate) blanks: &'t mut Blanks,
    /// The first thing that is more than a type.
    pub(crate) refused: Option<(usize, &'static str)>,
}

const ENUM: &str = "an enum is more than types, which is all that is stripped: use a constant object";
const NAMESPACE: &str = "a namespace is more than types, which is all that is stripped: use a module";
const IMPORT_EQUALS: &str = "`import =` and `export =` are more than types: use import and export";
const ASSERTION: &str = "a type in angle brackets cannot be stripped: use `as`";

impl<'t> Eraser<'t> {
    pub(crate) fn new(text: &'t str, blanks: &'t mut Blanks) -> Self {
        Self { text, blanks, refused: None }
    }

    pub(crate) fn erase(&mut self, span: Span) {
        self.blanks.erase(span.start as usize, span.end as usize);
    }

    /// A whole statement or member. Its semicolon keeps what is before from going on with what is after.
    pub(crate) fn erase_statement(&mut self, span: Span) {
        self.erase(span);
        self.blanks.put(span.start as usize, b';');
    }

    pub(crate) fn refuse(&mut self, span: Span, message: &'static str) {
        self.refused.get_or_insert((span.start as usize, message));
    }

    /// The sign after `from`, if it is this one.
    pub(crate) fn erase_sign(&mut self, from: u32, sign: &str) {
        let (from, text) = (from as usize, self.text);
        let found = tokens(text, from, text.len()).find(|it| it.text != "]");
        if let Some(token) = found.filter(|it| it.text == sign) {
            self.blanks.erase(token.at, token.at + sign.len());
        }
    }

    /// Something in a list, with the comma behind it.
    fn erase_item(&mut self, span: Span) {
        self.erase(span);
        self.erase_sign(span.end, ",");
    }

    /// What follows an expression. If the next line would now go on with it, it is ended.
    fn erase_after(&mut self, expression: Span, end: u32) {
        let (start, end) = (expression.end as usize, end as usize);
        self.blanks.erase(start, end);
        let Some(rest) = self.text.get(end..) else { return };
        let skipped = blanks_and_comments(rest);
        let is_new_line = rest.get(..skipped).is_some_and(|it| it.contains('\n'));
        let goes_on = rest.get(skipped..).is_some_and(|it| it.starts_with(['(', '[', '`']));
        let word = self.text.get(start..end).map(|it| start + it.len() - it.trim_start().len());
        if let Some(at) = word.filter(|_| is_new_line && goes_on) {
            self.blanks.put(at, b';');
        }
    }

    fn has_line_end(&self, start: u32, end: u32) -> bool {
        self.text.get(start as usize..end as usize).is_some_and(|it| it.contains(['\n', '\r']))
    }

    /// True if the declaration is only a type, or refused.
    fn is_done(&mut self, declaration: &Declaration<'_>, whole: Span) -> bool {
        let is_type = match declaration {
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_)
            | Declaration::TSGlobalDeclaration(_) => true,
            Declaration::VariableDeclaration(it) => it.declare,
            Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
            Declaration::ClassDeclaration(it) => it.declare,
            Declaration::TSEnumDeclaration(it) => {
                if !it.declare {
                    self.refuse(it.span, ENUM);
                }
                true
            }
            Declaration::TSNamespaceDeclaration(it) => {
                if !it.declare {
                    self.refuse(it.span, NAMESPACE);
                }
                true
            }
            Declaration::TSImportEqualsDeclaration(it) => {
                if !it.import_kind.is_type() {
                    self.refuse(it.span, IMPORT_EQUALS);
                }
                true
            }
        };
        if is_type {
            self.erase_statement(whole);
        }
        is_type
    }

    fn is_erased(&mut self, statement: &Statement<'_>) -> bool {
        if let Some(declaration) = statement.as_declaration() {
            return self.is_done(declaration, statement.span());
        }
        let is_type = match statement {
            Statement::ExportDeclaration(it) => return self.is_done(&it.declaration, it.span),
            Statement::ImportDeclaration(it) => it.import_kind.is_type(),
            Statement::ExportNamedDeclaration(it) => it.export_kind.is_type(),
            Statement::ExportFromDeclaration(it) => it.export_kind.is_type(),
            Statement::ExportAllDeclaration(it) => it.export_kind.is_type(),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
                ExportDefaultDeclarationKind::FunctionDeclaration(it) => it.body.is_none(),
                _ => false,
            },
            Statement::TSNamespaceExportDeclaration(_) => true,
            Statement::TSExportAssignment(it) => {
                self.refuse(it.span, IMPORT_EQUALS);
                true
            }
            _ => false,
        };
        if is_type {
            self.erase_statement(statement.span());
        }
        is_type
    }
}

impl<'a> Visit<'a> for Eraser<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !self.is_erased(it) {
            walk::walk_statement(self, it);
        }
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.erase(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.erase(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.erase(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.erase_item(it.span);
    }

    fn visit_import_specifier(&mut self, it: &ImportSpecifier<'a>) {
        if it.import_kind.is_type() {
            self.erase_item(it.span);
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind.is_type() {
            self.erase_item(it.span);
        }
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_after(it.expression.span(), it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_after(it.expression.span(), it.span.end);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_after(it.expression.span(), it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.erase_sign(it.expression.span().end, "!");
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.refuse(it.span, ASSERTION);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.erase_sign(it.id.span().end, "!");
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        walk::walk_arrow_function_expression(self, it);
        // No line may end before `=>`, nor between `return` or `async` and the bracket.
        if let Some(types) = &it.type_parameters
            && self.has_line_end(types.span.start, it.params.span.start)
        {
            self.blanks.put(types.span.start as usize, b'(');
            self.blanks.put(it.params.span.start as usize, b' ');
        }
        if let Some(result) = &it.return_type
            && self.has_line_end(it.params.span.end, result.span.end)
        {
            let last = self.text.get(..result.span.end as usize).and_then(|it| it.char_indices().next_back());
            self.blanks.put(it.params.span.end as usize - 1, b' ');
            self.blanks.put(last.map_or(0, |it| it.0), b')');
        }
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.check_parameter(it);
        if it.optional {
            self.erase_sign(it.pattern.span().end, "?");
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.erase_class_words(it);
        walk::walk_class(self, it);
    }

    fn visit_ts_class_implements_list(&mut self, _: &oxc_allocator::Vec<'a, TSClassImplements<'a>>) {}

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        if !self.is_member_erased(it) {
            walk::walk_class_element(self, it);
        }
    }
}
